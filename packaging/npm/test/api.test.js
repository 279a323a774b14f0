'use strict';
// The installed package: require('wasinn') is what npm has unpacked.
const assert = require('node:assert/strict');
const fs = require('node:fs');
const path = require('node:path');
const { once } = require('node:events');
const { describe, it } = require('node:test');
const { Worker } = require('node:worker_threads');
const { Context, Graph, Guest, Host, Tensor, version } = require('wasinn');

const SOURCE = process.env.WASINN_SOURCE;
const DIGITS = path.join(SOURCE, 'models', 'digits.onnx');
const TINY = path.join(SOURCE, 'tests', 'models', 'tiny');

function withDigits() {
  const host = new Host();
  host.addModel('digits', DIGITS);
  return host.guest();
}

describe('inference', () => {
  it('gives probabilities by the name of the output', async () => {
    const guest = withDigits();
    const graph = await guest.loadByName('digits');
    assert.equal(graph.description.inputs[0].name, 'image');
    const { probabilities } = await graph.compute({ image: new Float32Array(64) });
    assert.equal(probabilities.type, 'f32');
    assert.deepEqual(probabilities.shape, [1, 10]);
    const sum = probabilities.data.reduce((all, one) => all + one, 0);
    assert.ok(Math.abs(sum - 1) < 1e-5, String(sum));
    guest.close();
  });

  it('computes what the model says', async () => {
    const host = new Host();
    host.addModel('relu', path.join(TINY, 'relu.onnx'));
    const guest = host.guest();
    const graph = await guest.loadByName('relu');
    const [input] = graph.description.inputs;
    const [output] = graph.description.outputs;
    const count = input.shape.reduce((product, size) => product * size, 1);
    const data = Float32Array.from({ length: count }, (_, i) => (i % 3) - 1);
    const context = graph.context();
    for (let turn = 0; turn < 3; ++turn) {
      const outputs = await context.compute({ [input.name]: new Tensor('f32', input.shape, data) });
      assert.deepEqual(outputs[output.name].data, data.map((value) => Math.max(value, 0)));
    }
    context.close();
    guest.close();
  });

  it('computes in many contexts at once, and one guest does not wait for another', async () => {
    const guest = withDigits();
    const graph = await guest.loadByName('digits');
    const images = Array.from({ length: 16 }, (_, i) => new Float32Array(64).fill(i));
    const alone = [];
    for (const image of images) alone.push((await graph.compute({ image })).probabilities.data);
    const together = await Promise.all(images.map((image) => graph.compute({ image })));
    assert.deepEqual(together.map(({ probabilities }) => probabilities.data), alone);
    assert.notDeepEqual(alone[0], alone[15]);
    guest.close();
  });

  it('takes the bytes of an input before it returns', async () => {
    const guest = withDigits();
    const graph = await guest.loadByName('digits');
    const image = new Float32Array(64).fill(3);
    const wanted = (await graph.compute({ image: image.slice() })).probabilities.data;
    const promise = graph.compute({ image });
    image.fill(9);
    assert.deepEqual((await promise).probabilities.data, wanted);
    guest.close();
  });

  it('loads a model from bytes, in the sandbox', async () => {
    const guest = new Host().guest();
    const graph = await guest.load(fs.readFileSync(DIGITS), { encoding: 'onnx' });
    const { probabilities } = await graph.compute({ image: new Float32Array(64) });
    assert.equal(probabilities.data.length, 10);
    guest.close();
  });

  it('lets types travel that wasi-nn has no number for', async () => {
    for (const [type, array] of [['i8', Int8Array], ['u16', Uint16Array], ['i16', Int16Array], ['u32', Uint32Array], ['u64', BigUint64Array]]) {
      const values = array === BigUint64Array ? [1n, 2n ** 63n] : [1, array === Uint32Array ? 2 ** 31 : 2];
      const { send, receive } = require(path.join(path.dirname(require.resolve('wasinn')), 'tensor.js'));
      const [, number, shape, bytes] = send('x', new Tensor(type, [2], array.from(values)));
      const back = receive(['x', number, shape, bytes.slice().buffer], { type, shape: [2] });
      assert.deepEqual(back, new Tensor(type, [2], array.from(values)));
    }
  });
});

describe('mistakes', () => {
  it('have a code and say what was expected', async () => {
    const guest = withDigits();
    await assert.rejects(guest.loadByName('nothing'), { code: 'not_found', message: /'nothing'/ });
    const graph = await guest.loadByName('digits');
    await assert.rejects(graph.compute({ image: new Float64Array(64) }), { code: 'invalid_argument', message: /f32/ });
    await assert.rejects(graph.compute({ picture: new Float32Array(64) }), { code: 'invalid_argument', message: /picture/ });
    await assert.rejects(graph.compute({}), { code: 'invalid_argument' });
    await assert.rejects(graph.compute({ image: [1, 2] }), TypeError);
    await assert.rejects(guest.load(new Uint8Array([1, 2, 3]), { encoding: 'onnx' }), { code: 'invalid_encoding' });
    await assert.rejects(guest.load(new Uint8Array(1), { target: 'abacus' }), { code: 'invalid_argument' });
    guest.close();
  });

  it('of tensors are found where they are made', () => {
    assert.throws(() => new Tensor('f32', [2, 2], new Float32Array(3)), /16 bytes; found 12/);
    assert.throws(() => new Tensor('f33', [1], new Float32Array(1)), /one of f16/);
    assert.throws(() => new Tensor('f32', [-1], new Float32Array(1)), /sizes/);
    assert.throws(() => new Tensor('f32', [1], [1]), /typed array/);
  });

  it('of types are a TypeError', async () => {
    const host = new Host();
    const guest = withDigits();
    const bytes = fs.readFileSync(DIGITS);
    for (const options of [{ target: null }, { target: 5 }, { encoding: 5 }, { encoding: {} }]) {
      await assert.rejects(guest.load(bytes, { encoding: 'onnx', ...options }), TypeError);
      assert.throws(() => host.addModel('x', bytes, options), TypeError);
    }
    for (const options of [{ version: 'x' }, { version: -1 }, { warmUp: null }, { isolate: 1 }, { config() {} }]) {
      assert.throws(() => host.addModel('x', bytes, options), TypeError);
    }
    assert.throws(() => new Host({ config: 5 }), TypeError);
    assert.throws(() => new Host({ settings: { metrics: undefined } }), TypeError);
    assert.throws(() => new Host({ log: 5 }), TypeError);
    const graph = await guest.loadByName('digits');
    const tensor = new Tensor('f32', [1, 1, 8, 8], new Float32Array(64));
    tensor.shape = ['x', {}, 1.5, -1];
    await assert.rejects(graph.compute({ image: tensor }), TypeError);
    guest.close();
  });

  it('of types do not end the process in the addon either', async () => {
    const addon = require(path.join(path.dirname(require.resolve('wasinn')), '..', 'wasinn.node'));
    assert.throws(() => new addon.NativeHost([['set', 'metrics', 5]]), TypeError);
    const host = new addon.NativeHost([]);
    assert.throws(() => host.addModel('x', { target: null }), TypeError);
    assert.throws(() => host.addModel('x', { get path() { throw new RangeError('mine'); } }), RangeError);
    assert.throws(() => new addon.NativeGuest({}, ''), Error);
    const guest = new addon.NativeGuest(host, '');
    assert.throws(() => guest.load([new Uint8Array(1)], 'onnx', null), TypeError);
    assert.throws(() => guest.load(['x'], 'onnx', 'cpu'), TypeError);
    assert.throws(() => guest.compute(1, [['x', 1, ['x', {}], new Uint8Array(4)]]), TypeError);
    guest.close();
  });

  it('of texts with a NUL are a TypeError', async () => {
    const host = new Host();
    const guest = host.guest();
    assert.throws(() => new Host({ config: "log.level='info'\0\n[policy]\nload='deny'\n" }), TypeError);
    assert.throws(() => new Host({ configFile: 'x\0.toml' }), TypeError);
    assert.throws(() => new Host({ settings: { 'log.level': 'info\0' } }), TypeError);
    assert.throws(() => host.addModel('a\0b', DIGITS), TypeError);
    assert.throws(() => host.addModel('a', `${DIGITS}\0`), TypeError);
    assert.throws(() => host.addModels('a\0b'), TypeError);
    assert.throws(() => host.removeModel('a\0b'), TypeError);
    assert.throws(() => host.guest({ name: 'a\0b' }), TypeError);
    await assert.rejects(guest.loadByName('a\0b'), TypeError);
    await assert.rejects(guest.load(new Uint8Array(1), { encoding: 'onnx\0' }), TypeError);
    guest.close();
  });

  it('of settings name the key', () => {
    assert.throws(() => new Host({ settings: { 'limits.max_graph': 1 } }), { code: 'invalid_argument', message: /max_graphs/ });
    assert.throws(() => new Host({ config: 'x = [' }), { code: 'invalid_argument' });
    assert.throws(() => new Host().addModel('x', '/nonexistent.onnx', { preload: true }), /nonexistent/);
  });

  it('do not make objects by hand', () => {
    for (const type of [Guest, Graph, Context]) assert.throws(() => new type(), TypeError);
  });
});

describe('ends', () => {
  it('come in any order, and once', async () => {
    const guest = withDigits();
    const graph = await guest.loadByName('digits');
    const context = graph.context();
    graph.close();
    assert.equal(graph.closed, true);
    assert.throws(() => graph.context(), /closed/);
    assert.ok((await context.compute({ image: new Float32Array(64) })).probabilities);
    guest.close();
    guest.close();
    context.close();
    context.close();
    await assert.rejects(context.compute({ image: new Float32Array(64) }), /closed/);
    await assert.rejects(guest.loadByName('digits'), /closed/);
  });

  it('may come while it computes', async () => {
    const guest = withDigits();
    const graph = await guest.loadByName('digits');
    const promises = Array.from({ length: 20 }, () => graph.compute({ image: new Float32Array(64) }).catch((error) => error));
    guest.close();
    assert.equal((await Promise.all(promises)).length, 20);
  });

  it('may be a worker\'s that is terminated while it computes', async () => {
    const source = `
      const { parentPort, workerData } = require('node:worker_threads');
      const { Host } = require(workerData.wasinn);
      const host = new Host();
      host.addModel('digits', workerData.model);
      const guest = host.guest();
      guest.loadByName('digits').then((graph) => {
        for (let i = 0; i < 50; ++i) {
          graph.compute({ image: new Float32Array(64) });
          guest.loadByName('nothing').catch(() => {});
        }
        parentPort.postMessage('busy');
      });`;
    for (let turn = 0; turn < 3; ++turn) {
      const worker = new Worker(source, { eval: true, workerData: { wasinn: require.resolve('wasinn'), model: DIGITS } });
      await once(worker, 'message');
      await worker.terminate();
    }
  });

  it('hold limits', async () => {
    const host = new Host({ settings: { 'limits.max_graphs': 1 } });
    host.addModel('digits', DIGITS);
    const guest = host.guest();
    const graph = await guest.loadByName('digits');
    await assert.rejects(guest.loadByName('digits'), { code: 'too_large' });
    graph.close();
    (await guest.loadByName('digits')).close();
    guest.close();
  });
});

describe('the host', () => {
  it('lists its models, backends and counts', async () => {
    const host = new Host({ config: 'metrics = true' });
    host.addModel('digits', fs.readFileSync(DIGITS), { encoding: 'onnx', version: 3 });
    assert.deepEqual(host.models().map(({ name, version: number, loaded }) => [name, number, loaded]), [['digits', 3, false]]);
    assert.ok(host.backends().find(({ name, available }) => name === 'onnx' && available));
    assert.match(host.metrics(), /^# HELP wasinn_/m);
    host.removeModel('digits');
    assert.deepEqual(host.models(), []);
    assert.match(version, /^\d+\.\d+\.\d+/);
  });

  it('logs', async () => {
    const lines = [];
    const host = new Host({ log: (level, message) => lines.push([level, message]) });
    const guest = host.guest({ name: 'who' });
    await assert.rejects(guest.loadByName('nothing'));
    guest.close();
    await new Promise(setImmediate);
    assert.ok(lines.some(([level, message]) => level === 'warning' && message.includes('nothing')), JSON.stringify(lines));
  });
});
