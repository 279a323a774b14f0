'use strict';
// Tensors: a type, a shape, and a typed array. wasi:nn has fewer types than models: the others are passed bit for bit.

const ARRAYS = {
  f16: Uint16Array, bf16: Uint16Array, f32: Float32Array, f64: Float64Array,
  i8: Int8Array, i16: Int16Array, i32: Int32Array, i64: BigInt64Array,
  u8: Uint8Array, u16: Uint16Array, u32: Uint32Array, u64: BigUint64Array, bool: Uint8Array,
};
// The cases of tensor-type, in their order.
const WIT_TYPES = ['f16', 'f32', 'f64', 'bf16', 'u8', 'i32', 'i64'];
// Types that are passed as another one: that type, and the factor by which the last dimension grows.
const AS = { i8: ['u8', 1], bool: ['u8', 1], u32: ['i32', 1], u64: ['i64', 1], i16: ['u8', 2], u16: ['u8', 2] };
const TYPE_OF_ARRAY = new Map([
  [Float32Array, 'f32'], [Float64Array, 'f64'], [Int8Array, 'i8'], [Int16Array, 'i16'], [Int32Array, 'i32'], [BigInt64Array, 'i64'],
  [Uint8Array, 'u8'], [Uint8ClampedArray, 'u8'], [Uint16Array, 'u16'], [Uint32Array, 'u32'], [BigUint64Array, 'u64'],
]);

/** Elements of one type in a shape. */
class Tensor {
  constructor(type, shape, data) {
    if (typeof type !== 'string' || !Object.hasOwn(ARRAYS, type)) {
      throw new TypeError(`a tensor's type is one of ${Object.keys(ARRAYS).join(', ')}; found '${String(type)}'`);
    }
    if (!Array.isArray(shape) || !shape.every((size) => Number.isInteger(size) && size >= 0 && size < 2 ** 32)) {
      throw new TypeError('a tensor\'s shape is an array of sizes');
    }
    if (!ArrayBuffer.isView(data)) throw new TypeError('a tensor\'s data is a typed array');
    this.type = type;
    this.shape = [...shape];
    this.data = data;
    const wanted = shape.reduce((product, size) => product * size, 1) * ARRAYS[type].BYTES_PER_ELEMENT;
    if (data.byteLength !== wanted) {
      throw new RangeError(`a tensor of type ${type} and shape [${shape}] has ${wanted} bytes; found ${data.byteLength}`);
    }
  }
}

/** What compute takes as an input: a Tensor, or a typed array, whose shape is then the model's, where it leaves one size open at most. */
function toTensor(name, input, declared) {
  if (input instanceof Tensor) return new Tensor(input.type, input.shape, input.data); // they may have been changed since
  const type = ArrayBuffer.isView(input) && TYPE_OF_ARRAY.get(input instanceof Uint8Array ? Uint8Array : input.constructor);
  if (!type) throw new TypeError(`the input '${name}' is neither a Tensor nor a typed array`);
  return new Tensor(type, shapeOf(input.length, declared?.shape), input);
}

function shapeOf(length, declared) {
  if (!declared) return [length];
  const open = declared.filter((size) => size < 0 || size === null).length;
  const known = declared.reduce((product, size) => (size > 0 ? product * size : product), 1);
  if (open > 1 || (open === 1 && length % known !== 0)) return [length];
  return declared.map((size) => (size < 0 || size === null ? length / known : size));
}

function send(name, tensor) {
  const [type, factor] = AS[tensor.type] ?? [tensor.type, 1];
  const shape = [...tensor.shape];
  if (factor > 1) shape.push(factor * (shape.pop() ?? 1));
  const bytes = new Uint8Array(tensor.data.buffer, tensor.data.byteOffset, tensor.data.byteLength);
  return [name, WIT_TYPES.indexOf(type), shape, bytes];
}

// With the type and rank that the model declares.
function receive([, number, shape, buffer], declared) {
  let type = WIT_TYPES[number];
  const [travelled, factor] = AS[declared?.type] ?? ['', 1];
  if (declared && travelled === type) {
    if (factor > 1) {
      const last = shape.pop();
      if (declared.shape?.length !== 0) shape.push(last / factor);
    }
    type = declared.type;
  }
  return new Tensor(type, shape, new ARRAYS[type](buffer));
}

module.exports = { Tensor, toTensor, send, receive };
