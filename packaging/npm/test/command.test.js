'use strict';
const assert = require('node:assert/strict');
const { execFileSync, spawnSync } = require('node:child_process');
const fs = require('node:fs');
const os = require('node:os');
const path = require('node:path');
const { it } = require('node:test');
const { command, run, version } = require('wasinn');

const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'wasinn-npm-'));
process.on('exit', () => fs.rmSync(folder, { recursive: true }));
const MODEL = path.join(process.env.WASINN_SOURCE, 'models', 'digits.onnx');

function guest(name, body) {
  const file = path.join(folder, name);
  fs.writeFileSync(file, `(module
    (import "wasi_snapshot_preview1" "fd_write" (func $write (param i32 i32 i32 i32) (result i32)))
    (import "wasi_snapshot_preview1" "proc_exit" (func $exit (param i32)))
    (import "wasi_ephemeral_nn" "load_by_name" (func $load (param i32 i32 i32) (result i32)))
    (memory (export "memory") 1)
    (data (i32.const 0) "\\10\\00\\00\\00\\06\\00\\00\\00")
    (data (i32.const 16) "hello\\n")
    (data (i32.const 32) "digits")
    (func (export "_start") ${body}))`);
  return file;
}

it('runs a program', async () => {
  const outcome = await run(guest('hello.wat', '(drop (call $write (i32.const 1) (i32.const 0) (i32.const 1) (i32.const 8)))'));
  assert.deepEqual([outcome.code, outcome.stdout.toString()], [0, 'hello\n']);
});

it('gives a program models, and returns its exit code', async () => {
  const file = guest('load.wat', '(call $exit (call $load (i32.const 32) (i32.const 6) (i32.const 64)))');
  assert.equal((await run(file, [], { models: { digits: MODEL } })).code, 0);
  assert.equal((await run(file)).code, 8); // not_found
});

it('ends what takes too long, or nobody wants any more', async () => {
  const file = guest('loop.wat', '(loop $l (br $l))');
  assert.equal((await run(file, [], { timeout: '100ms' })).code, 124);
  await assert.rejects(run(file, [], { signal: AbortSignal.timeout(100) }), { name: 'AbortError' });
});

it('says why it cannot run', async () => {
  const outcome = await run('/nonexistent.wasm');
  assert.equal(outcome.code, 125);
  assert.match(outcome.stderr, /nonexistent/);
});

it('is a command for shells', () => {
  const bin = path.join(process.env.WASINN_MODULES, '.bin', 'wasinn');
  assert.equal(execFileSync(bin, ['--version']).toString().split('\n')[0], `wasinn ${version}`);
  assert.equal(spawnSync(bin, ['no-such-command']).status, 2);
  assert.ok(fs.statSync(command).isFile());
});
