//! wasi_nn.zig: machine learning for WebAssembly guests written in Zig, by the standard's import module "wasi_ephemeral_nn".
//!
//!     const nn = @import("wasi_nn.zig");
//!     const graph = try nn.Graph.loadByName("digits");
//!     const context = try graph.initExecutionContext();
//!     try context.setInput(0, f32, &image, &.{ 1, 1, 8, 8 });
//!     try context.compute();
//!     const scores = try context.getOutput(0, f32, &buffer);
//!
//! The functions have the standard's names. guest/c/wasi_nn.h says what each does, and which errors it returns. The guest owns
//! all buffers, and the host copies inputs at once. Graphs and contexts live until the guest ends.

const host = struct {
    extern "wasi_ephemeral_nn" fn load(builders: [*]const Builder, builders_len: u32, encoding: u32, target: u32, graph: *Graph) u32;
    extern "wasi_ephemeral_nn" fn load_by_name(name: [*]const u8, name_len: u32, graph: *Graph) u32;
    extern "wasi_ephemeral_nn" fn init_execution_context(graph: Graph, context: *Context) u32;
    extern "wasi_ephemeral_nn" fn set_input(context: Context, index: u32, tensor: *const Tensor) u32;
    extern "wasi_ephemeral_nn" fn compute(context: Context) u32;
    extern "wasi_ephemeral_nn" fn get_output(context: Context, index: u32, buffer: [*]u8, buffer_size: u32, written: *u32) u32;
};

const Builder = extern struct { data: [*]const u8, len: u32 };

const Tensor = extern struct { dims: [*]const u32, dims_len: u32, type: u8, data: [*]const u8, len: u32 };

pub const Error = error{
    InvalidArgument,
    InvalidEncoding,
    MissingMemory,
    Busy,
    RuntimeError,
    UnsupportedOperation,
    TooLarge,
    NotFound,
    EndOfSequence,
    ContextFull,
    PromptTooLong,
    ModelNotFound,
    /// A number that is not listed here.
    Unknown,
};

fn check(code: u32) Error!void {
    return switch (code) {
        0 => {},
        1 => error.InvalidArgument,
        2 => error.InvalidEncoding,
        3 => error.MissingMemory,
        4 => error.Busy,
        5 => error.RuntimeError,
        6 => error.UnsupportedOperation,
        7 => error.TooLarge,
        8 => error.NotFound,
        100 => error.EndOfSequence,
        101 => error.ContextFull,
        102 => error.PromptTooLong,
        103 => error.ModelNotFound,
        else => error.Unknown,
    };
}

/// The standard's number of an element's type. It has none for some types: wasinn takes u8 for i8 and bool, i32 for u32,
/// i64 for u64.
fn typeOf(comptime T: type) u8 {
    return switch (T) {
        f16 => 0,
        f32 => 1,
        f64 => 2,
        u8, i8 => 3,
        i32, u32 => 4,
        i64, u64 => 5,
        else => @compileError("no tensor has elements of the type " ++ @typeName(T)),
    };
}

fn bytesOf(comptime T: type, count: usize) u32 {
    return @intCast(count * @sizeOf(T));
}

pub const Encoding = enum(u32) { openvino, onnx, tensorflow, pytorch, tensorflowlite, autodetect, _ };

pub const Target = enum(u32) { cpu, gpu, tpu, auto, _ };

/// A loaded model.
pub const Graph = enum(u32) {
    _,

    /// Gets a model that the host offers under a name.
    pub fn loadByName(name: []const u8) Error!Graph {
        var graph: Graph = undefined;
        try check(host.load_by_name(name.ptr, @intCast(name.len), &graph));
        return graph;
    }

    /// Loads a model of one part from its bytes. The guest may free the bytes afterwards.
    pub fn load(bytes: []const u8, encoding: Encoding, target: Target) Error!Graph {
        const builders = [_]Builder{.{ .data = bytes.ptr, .len = @intCast(bytes.len) }};
        var graph: Graph = undefined;
        try check(host.load(&builders, builders.len, @backingInt(encoding), @backingInt(target), &graph));
        return graph;
    }

    pub fn initExecutionContext(graph: Graph) Error!Context {
        var context: Context = undefined;
        try check(host.init_execution_context(graph, &context));
        return context;
    }
};

/// The inputs and outputs of one inference at a time. Make one, and use it for many inferences.
pub const Context = enum(u32) {
    _,

    /// No dims are a scalar. The input keeps its value over any number of computes.
    pub fn setInput(context: Context, index: u32, comptime T: type, data: []const T, dims: []const u32) Error!void {
        const tensor: Tensor = .{
            .dims = dims.ptr,
            .dims_len = @intCast(dims.len),
            .type = typeOf(T),
            .data = @ptrCast(data.ptr),
            .len = bytesOf(T, data.len),
        };
        try check(host.set_input(context, index, &tensor));
    }

    pub fn compute(context: Context) Error!void {
        try check(host.compute(context));
    }

    /// Copies an output into the buffer, and returns the part that it fills. error.TooLarge: it has no room there.
    pub fn getOutput(context: Context, index: u32, comptime T: type, buffer: []T) Error![]T {
        _ = typeOf(T);
        var written: u32 = 0;
        try check(host.get_output(context, index, @ptrCast(buffer.ptr), bytesOf(T, buffer.len), &written));
        return buffer[0 .. written / @sizeOf(T)];
    }
};
