// wasi_nn.ts: machine learning for WebAssembly guests written in AssemblyScript, by the standard's import module
// "wasi_ephemeral_nn".
//
//     import { Graph, errorText } from "./wasi_nn";
//     const graph = Graph.loadByName("digits");
//     if (!graph) return fail(errorText());
//     const context = graph.initExecutionContext();
//     if (!context) return fail(errorText());
//     if (!context.setInput(0, image, [1, 1, 8, 8]) || !context.compute()) return fail(errorText());
//     const scores = context.getOutput<Float32Array>(0);
//     if (!scores) return fail(errorText());
//
// The functions have the standard's names. guest/c/wasi_nn.h says what each does. AssemblyScript cannot catch what is thrown, so
// they throw nothing: a call that fails returns null or false, and errno() says why. A guest imports only what it calls. The host
// copies inputs at once. Graphs and contexts live until the guest ends.

@external("wasi_ephemeral_nn", "load")
declare function nnLoad(builders: usize, buildersLength: u32, encoding: u32, target: u32, graph: usize): u32;
@external("wasi_ephemeral_nn", "load_by_name")
declare function nnLoadByName(name: usize, nameLength: u32, graph: usize): u32;
@external("wasi_ephemeral_nn", "init_execution_context")
declare function nnInitExecutionContext(graph: u32, context: usize): u32;
@external("wasi_ephemeral_nn", "set_input")
declare function nnSetInput(context: u32, index: u32, tensor: usize): u32;
@external("wasi_ephemeral_nn", "compute")
declare function nnCompute(context: u32): u32;
@external("wasi_ephemeral_nn", "get_output")
declare function nnGetOutput(context: u32, index: u32, buffer: usize, bufferSize: u32, written: usize): u32;
@external("wasinn_ext_0", "last_error")
declare function extLastError(buffer: usize, bufferSize: u32, written: usize): u32;

export enum Errno {
  Success = 0,
  InvalidArgument = 1,
  InvalidEncoding = 2,
  MissingMemory = 3,
  Busy = 4,
  RuntimeError = 5,
  UnsupportedOperation = 6,
  TooLarge = 7,
  NotFound = 8,
  EndOfSequence = 100,
  ContextFull = 101,
  PromptTooLong = 102,
  ModelNotFound = 103,
}

let failed: u32 = Errno.Success;
let failedCall = "";

/** Why the last call that failed did. */
export function errno(): Errno {
  return failed;
}

/** The same in words: "set_input: invalid_argument (1)". */
export function errorText(): string {
  return failedCall + ": " + nameOf(failed) + " (" + failed.toString() + ")";
}

/** The host's message of that error: "set_input: invalid_argument: input 'x' …". Only on wasinn. */
export function lastError(): string {
  const text = new Uint8Array(2048);
  store<u32>(result, 0);
  if (extLastError(text.dataStart, text.byteLength, result) != 0) return errorText();
  return String.UTF8.decodeUnsafe(text.dataStart, load<u32>(result));
}

function nameOf(code: u32): string {
  switch (code) {
    case Errno.InvalidArgument: return "invalid_argument";
    case Errno.InvalidEncoding: return "invalid_encoding";
    case Errno.MissingMemory: return "missing_memory";
    case Errno.Busy: return "busy";
    case Errno.RuntimeError: return "runtime_error";
    case Errno.UnsupportedOperation: return "unsupported_operation";
    case Errno.TooLarge: return "too_large";
    case Errno.NotFound: return "not_found";
    case Errno.EndOfSequence: return "end_of_sequence";
    case Errno.ContextFull: return "context_full";
    case Errno.PromptTooLong: return "prompt_too_long";
    case Errno.ModelNotFound: return "model_not_found";
    default: return "unknown error";
  }
}

function check(call: string, code: u32): bool {
  if (code == Errno.Success) return true;
  failed = code;
  failedCall = call;
  return false;
}

// Where the host writes a handle or a size, and where the records are that it reads. They are no objects: no garbage collector moves or
// frees them.
const result: usize = memory.data(4);
const record: usize = memory.data(20);

/**
 * The standard's number of an element's type. It has none for some types: wasinn takes u8 for i8 and bool, i32 for u32, i64 for u64.
 * u16 are the bits of half-precision numbers.
 */
function typeOf<T>(): u8 {
  if (isFloat<T>()) return sizeof<T>() == 4 ? 1 : 2;
  if (sizeof<T>() == 1) return 3;
  if (sizeof<T>() == 2) return 0;
  return sizeof<T>() == 4 ? 4 : 5;
}

export enum Encoding { OpenVINO, ONNX, TensorFlow, PyTorch, TensorFlowLite, Autodetect }

export enum Target { CPU, GPU, TPU, Auto }

/** A loaded model. */
export class Graph {
  private constructor(private readonly handle: u32) {}

  /** Gets a model that the host offers under a name. */
  static loadByName(name: string): Graph | null {
    const text = String.UTF8.encode(name);
    const code = nnLoadByName(changetype<usize>(text), text.byteLength, result);
    return check("load_by_name", code) ? new Graph(load<u32>(result)) : null;
  }

  /** Loads a model of one part from its bytes. */
  static load(bytes: Uint8Array, encoding: Encoding = Encoding.Autodetect, target: Target = Target.CPU): Graph | null {
    store<usize>(record, bytes.dataStart);
    store<u32>(record, bytes.byteLength, 4);
    return check("load", nnLoad(record, 1, encoding, target, result)) ? new Graph(load<u32>(result)) : null;
  }

  initExecutionContext(): Context | null {
    const code = nnInitExecutionContext(this.handle, result);
    return check("init_execution_context", code) ? new Context(load<u32>(result)) : null;
  }
}

/** The inputs and outputs of one inference at a time. Make one, and use it for many inferences. */
export class Context {
  constructor(private readonly handle: u32) {}

  /** `data` is a typed array. No dims are a scalar. The input keeps its value over any number of computes. */
  setInput<A extends ArrayBufferView>(index: u32, data: A, dims: u32[]): bool {
    store<usize>(record, dims.dataStart);
    store<u32>(record, dims.length, 4);
    store<u8>(record, typeOf<valueof<A>>(), 8);
    store<usize>(record, data.dataStart, 12);
    store<u32>(record, data.byteLength, 16);
    return check("set_input", nnSetInput(this.handle, index, record));
  }

  compute(): bool {
    return check("compute", nnCompute(this.handle));
  }

  /**
   * An output as a typed array. The first call has room for `room` elements; if there are more, the host says so, and a second call has
   * room for all. Some hosts do not say it: errno() is then TooLarge.
   */
  getOutput<A extends ArrayBufferView>(index: u32, room: i32 = 0): A | null {
    let values = instantiate<A>(room);
    let code = this.fill(index, values);
    if (code == Errno.TooLarge && load<u32>(result) > <u32>values.byteLength) {
      values = instantiate<A>((load<u32>(result) + sizeof<valueof<A>>() - 1) / sizeof<valueof<A>>());
      code = this.fill(index, values);
    }
    const bytes = load<u32>(result);
    // These are not whole elements: the output has another type.
    if (code == Errno.Success && bytes % sizeof<valueof<A>>() != 0) code = Errno.InvalidArgument;
    return check("get_output", code) ? values.subarray(0, bytes / sizeof<valueof<A>>()) : null;
  }

  private fill(index: u32, values: ArrayBufferView): u32 {
    store<u32>(result, 0);
    return nnGetOutput(this.handle, index, values.dataStart, values.byteLength, result);
  }
}
