// Reads digits with a model of the host's, through wasi:nn: a component in JavaScript.
//
//   classify-javascript.component.wasm [--raw] IMAGE...
//
// The model takes gray images of 8x8 pixels, float32 [N, 1, 8, 8], and gives the probability of each class, float32
// [N, classes]: models/digits.onnx. With --raw it prints for each image: file name, class, the output's bytes in hex.

import { loadByName } from 'wasi:nn/graph@0.2.0-rc-2024-10-28';
import { Tensor } from 'wasi:nn/tensor@0.2.0-rc-2024-10-28';

import { programArguments, readFile } from './files.js';
import { decodeGray } from './png.js';

const SIDE = 8;

/** The output's bytes. */
async function classify(context, path) {
  const { width, height, gray } = await decodeGray(readFile(path));
  if (width !== SIDE || height !== SIDE) throw new Error(`not ${SIDE}x${SIDE} pixels`);
  const pixels = Float32Array.from(gray, (value) => value / 255);
  const image = new Tensor([1, 1, SIDE, SIDE], 'FP32', new Uint8Array(pixels.buffer));
  const [[, output]] = context.compute([['image', image]]);
  const bytes = output.data();
  output[Symbol.dispose](); // no garbage collector does it
  return bytes;
}

function show(path, output, raw) {
  const scores = new Float32Array(output.slice().buffer);
  const best = scores.indexOf(Math.max(...scores));
  const hex = Array.from(output, (byte) => byte.toString(16).padStart(2, '0')).join('');
  console.log(raw ? `${path} ${best} ${hex}` : `${path}  ${best}  ${(scores[best] * 100).toFixed(1).padStart(5)} %`);
}

async function main(args) {
  const raw = args[0] === '--raw';
  const images = raw ? args.slice(1) : args;
  if (images.length === 0) throw new Error('usage: classify-javascript.component.wasm [--raw] IMAGE...');
  const context = loadByName('digits').initExecutionContext();
  for (const path of images) show(path, await classify(context, path), raw);
}

/** What an exception says; those of wasi:nn have an object with the host's own words. */
const reason = (error) => error.payload?.data() ?? error.message;

export const run = {
  async run() {
    try {
      await main(programArguments());
    } catch (error) {
      console.error(`classify: ${reason(error)}`);
      throw error;
    }
  },
};
