// Tensors as bytes, by the protocol's binary extension: docs/serve-reference.md.

// Bytes of an element, and its name in a DataView.
const TYPES = {
  BOOL: [1, "Uint8"], UINT8: [1, "Uint8"], UINT16: [2, "Uint16"], UINT32: [4, "Uint32"], UINT64: [8, "BigUint64"],
  INT8: [1, "Int8"], INT16: [2, "Int16"], INT32: [4, "Int32"], INT64: [8, "BigInt64"],
  FP16: [2, "Half"], BF16: [2, "Brain"], FP32: [4, "Float32"], FP64: [8, "Float64"],
};
export const DATATYPES = [...Object.keys(TYPES), "BYTES"];
export const isFloat = (datatype) => datatype.startsWith("FP") || datatype === "BF16";

const word = new DataView(new ArrayBuffer(4));
function bitsOf(number) {
  word.setFloat32(0, number);
  return word.getUint32(0);
}
function ofBits(bits) {
  word.setUint32(0, bits);
  return word.getFloat32(0);
}

// Rounded to the nearest, ties to even.
function toBrain(number) {
  const bits = bitsOf(number);
  return Number.isNaN(number) ? 0x7fc0 : ((bits + 0x7fff + ((bits >>> 16) & 1)) >>> 16) & 0xffff;
}
export function toHalf(number) {
  const sign = (bitsOf(number) >>> 16) & 0x8000;
  const size = Math.abs(number);
  if (Number.isNaN(number)) return 0x7e00;
  if (size >= 65520) return sign | 0x7c00;
  const exponent = Math.max(Math.floor(Math.log2(size || 2 ** -24)), -14);
  const steps = size / 2 ** (exponent - 10);  // of the last bit
  let whole = Math.floor(steps);
  if (steps - whole > 0.5 || (steps - whole === 0.5 && whole % 2 === 1)) ++whole;
  return sign | (exponent === -14 && whole < 1024 ? whole : ((exponent + 15) << 10) + (whole - 1024));
}
export function fromHalf(half) {
  const sign = half & 0x8000 ? -1 : 1;
  const exponent = (half >> 10) & 31;
  const rest = half & 1023;
  if (exponent === 31) return rest ? NaN : sign * Infinity;
  return sign * (exponent === 0 ? rest * 2 ** -24 : (1024 + rest) * 2 ** (exponent - 25));
}

// Numbers, or texts of them, which may be larger than a Number has them.
export function pack(datatype, numbers) {
  const [size, name] = TYPES[datatype];
  const view = new DataView(new ArrayBuffer(size * numbers.length));
  const isBig = name.startsWith("Big");
  for (let i = 0; i < numbers.length; ++i) {
    const at = i * size;
    if (isBig) view[`set${name}`](at, typeof numbers[i] === "string" ? BigInt(numbers[i]) : BigInt(Math.round(numbers[i])), true);
    else if (name === "Half") view.setUint16(at, toHalf(Number(numbers[i])), true);
    else if (name === "Brain") view.setUint16(at, toBrain(Number(numbers[i])), true);
    else view[`set${name}`](at, isFloat(datatype) ? Number(numbers[i]) : Math.round(Number(numbers[i])), true);
  }
  return view.buffer;
}

function unpack(datatype, bytes) {
  const view = new DataView(bytes);
  if (datatype === "BYTES") {
    const texts = [];
    for (let at = 0; at + 4 <= view.byteLength;) {
      const size = view.getUint32(at, true);
      texts.push(new TextDecoder().decode(new Uint8Array(bytes, at + 4, Math.min(size, view.byteLength - at - 4))));
      at += 4 + size;
    }
    return texts;
  }
  const [size, name] = TYPES[datatype];
  const numbers = [];
  for (let at = 0; at + size <= view.byteLength; at += size) {
    if (name === "Half") numbers.push(fromHalf(view.getUint16(at, true)));
    else if (name === "Brain") numbers.push(ofBits(view.getUint16(at, true) << 16));
    else numbers.push(view[`get${name}`](at, true));
  }
  return numbers;
}

// Arguments for fetch. Inputs with `bytes` follow the JSON; others have `data` in it.
export function writeRequest(inputs) {
  const json = JSON.stringify({
    inputs: inputs.map(({name, datatype, shape, data, bytes}) =>
      bytes ? {name, datatype, shape, parameters: {binary_data_size: bytes.byteLength}} : {name, datatype, shape, data}),
  });
  const parts = inputs.filter((input) => input.bytes).map((input) => input.bytes);
  if (parts.length === 0) return {body: json, headers: {"Content-Type": "application/json"}};
  const head = new TextEncoder().encode(json);
  return {
    body: new Blob([head, ...parts]),
    headers: {"Content-Type": "application/octet-stream", "Inference-Header-Content-Length": String(head.length)},
  };
}

// Outputs, each with all its `data`. `jsonLength`: null if nothing follows the JSON.
export function readResponse(body, jsonLength) {
  const size = jsonLength === null ? body.byteLength : Number(jsonLength);
  const {outputs = []} = JSON.parse(new TextDecoder().decode(new Uint8Array(body, 0, size)));
  let at = size;
  return outputs.map((output) => {
    const bytes = output.parameters?.binary_data_size;
    if (bytes === undefined) return {...output, data: output.data.flat(Infinity)};
    at += bytes;
    return {...output, data: unpack(output.datatype, body.slice(at - bytes, at))};
  });
}
