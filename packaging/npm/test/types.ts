// Compiled, not run: checks what index.d.ts allows in a program, and what it refuses.
import { Host, Tensor, run, version, type Outcome, type WasinnError } from 'wasinn';

async function main(): Promise<void> {
  const host = new Host({ settings: { 'limits.max_graphs': 3 }, log: (level, message) => console.log(level.toUpperCase(), message) });
  host.addModel('digits', new URL('file:///digits.onnx'), { target: 'cpu', config: { threads: 1 } });
  host.addModel('bytes', [new Uint8Array(1)], { encoding: 'onnx' });
  const guest = host.guest({ name: 'me' });
  const graph = await guest.loadByName('digits');
  const outputs = await graph.context().compute({ image: new Float32Array(64), other: new Tensor('i64', [1], new BigInt64Array(1)) });
  const first: number[] = outputs['probabilities']!.shape;
  const outcome: Outcome = await run('guest.wasm', ['a', 1], { models: { digits: 'digits.onnx' } });
  console.log(first, outcome.code, version, graph.description.inputs[0]?.name);
  // @ts-expect-error: no such type
  new Tensor('f33', [1], new Float32Array(1));
  // @ts-expect-error: no such target
  host.addModel('x', 'x.onnx', { target: 'abacus' });
  // @ts-expect-error: lists are no tensors
  await graph.compute({ image: [1, 2] });
  // @ts-expect-error: guests make graphs
  new (graph.constructor as typeof import('wasinn').Graph)();
}

main().catch((error: WasinnError) => console.error(error.code));
