// wasi-nn for Node: models on this machine's own frameworks, for Node and for sandboxed WebAssembly programs.

/** The type of a tensor's elements. `f16` and `bf16` are their bits, in a Uint16Array; `bool` is a Uint8Array of 0 and 1. */
export type Type = 'f16' | 'bf16' | 'f32' | 'f64' | 'i8' | 'i16' | 'i32' | 'i64' | 'u8' | 'u16' | 'u32' | 'u64' | 'bool';
export type Elements =
  | Float32Array | Float64Array | Int8Array | Int16Array | Int32Array | BigInt64Array
  | Uint8Array | Uint8ClampedArray | Uint16Array | Uint32Array | BigUint64Array;

/** Elements of one type in a shape. Nothing is converted: the array's bytes are the tensor's. */
export class Tensor {
  constructor(type: Type, shape: number[], data: Elements);
  readonly type: Type;
  readonly shape: number[];
  readonly data: Elements;
}

/** A typed array takes the model's shape. That may have one open size at most. */
export type Input = Tensor | Elements;
export type Model = Uint8Array | ArrayBuffer | (Uint8Array | ArrayBuffer)[];
export type Target = 'cpu' | 'gpu' | 'tpu' | 'auto';

/** The error of the library and the backends. `code` is wasinn.h's, in lower case ("not_found"). */
export interface WasinnError extends Error {
  code: string;
  backend?: string;
}

export interface HostOptions {
  /** Settings as TOML; docs/configuration.md lists the keys. A later member of this object wins. */
  configFile?: string | URL;
  config?: string;
  /** By dotted keys: {'limits.max_graphs': 3}. */
  settings?: Record<string, string | number | boolean | (string | number)[]>;
  log?: (level: 'error' | 'warning' | 'info' | 'debug', message: string) => void;
}

export interface ModelOptions {
  /** The format's name ("onnx"); usually found out from the file or its bytes. */
  encoding?: string;
  target?: Target;
  version?: number;
  /** Keys for the backend, as in [models.NAME.config]. */
  config?: Record<string, unknown>;
  isolate?: boolean;
  immutable?: boolean;
  preload?: boolean;
  warmUp?: number;
}

export interface ModelInfo {
  name: string;
  version: number;
  encoding: string;
  target: Target;
  path: string;
  loaded: boolean;
  backend: string;
}

export interface Backend {
  name: string;
  encodings: string;
  available: boolean;
  framework: string;
  devices: string;
  library: string;
  missing: string;
  /** The command that installs the framework. */
  install: string;
  /** The files that were looked for. */
  lookedFor: string;
}

/** Models, frameworks and settings. Guests use them. */
export class Host {
  constructor(options?: HostOptions);
  /** A file, a folder, or bytes. */
  addModel(name: string, model: string | URL | Model, options?: ModelOptions): void;
  /** Each subfolder is a model. */
  addModels(folder: string | URL): void;
  removeModel(name: string): void;
  models(): ModelInfo[];
  backends(): Backend[];
  /** The host's metrics, in Prometheus' text format. */
  metrics(): string;
  guest(options?: { name?: string }): Guest;
}

export interface Io {
  name: string;
  type: string;
  /** -1: any size; null: any shape. */
  shape: number[] | null;
}

/** Handles and quotas of one user of models. Loads and inferences run on threads of Node's pool. */
export class Guest {
  private constructor();
  /** Gets a model that the host has under a name. `config` has keys that its backend lets guests set. */
  loadByName(name: string, config?: Record<string, unknown>): Promise<Graph>;
  /** Loads a model from bytes. It runs in a separate process, unless the policy says otherwise. */
  load(model: Model, options?: { encoding?: string; target?: Target }): Promise<Graph>;
  /** Cancels running inferences, and frees all that the guest holds. */
  close(): void;
}

/** A loaded model. */
export class Graph {
  private constructor();
  readonly description: { backend: string; inputs: Io[]; outputs: Io[]; model?: Record<string, unknown> };
  /** Makes a context for many inferences, one at a time. To make a context costs more than one compute. */
  context(): Context;
  /** One inference, with a context for this call only. */
  compute(inputs: Record<string, Input>): Promise<Record<string, Tensor>>;
  readonly closed: boolean;
  close(): void;
}

export class Context {
  private constructor();
  /** The bytes of the inputs are copied before it returns. */
  compute(inputs: Record<string, Input>): Promise<Record<string, Tensor>>;
  readonly closed: boolean;
  close(): void;
}

export interface RunOptions {
  /** NAME: PATH, as --model. */
  models?: Record<string, string>;
  /** Folder of the host: folder of the guest, as --dir. */
  dirs?: Record<string, string>;
  env?: Record<string, string>;
  config?: string;
  /** "5s", as --timeout. */
  timeout?: string;
  /** More flags of `wasinn run`. */
  flags?: string[];
  stdin?: string | Uint8Array;
  cwd?: string;
  signal?: AbortSignal;
}

export interface Outcome {
  code: number | null;
  signal: string | null;
  /** A Buffer. */
  stdout: Uint8Array;
  stderr: string;
}

/** Runs a guest program in a sandbox, as `wasinn run` does. Resolves with any exit code. */
export function run(guest: string, args?: (string | number)[], options?: RunOptions): Promise<Outcome>;

/** The library's version. */
export const version: string;
/** The folder with the command and the libraries. */
export const prefix: string;
/** The command `wasinn`. */
export const command: string;
