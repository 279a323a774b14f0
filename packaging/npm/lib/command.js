'use strict';
// The command, which runs sandboxed programs in a separate process.

const { spawn } = require('node:child_process');
const path = require('node:path');

/** The folder with the command, the libraries and the headers. */
const prefix = path.join(__dirname, '..', 'prefix');
const command = path.join(prefix, 'bin', 'wasinn');

function flags(options) {
  const words = [];
  for (const [name, where] of Object.entries(options.models ?? {})) words.push('--model', `${name}=${where}`);
  for (const [host, guest] of Object.entries(options.dirs ?? {})) words.push('--dir', `${host}::${guest}`);
  for (const [name, value] of Object.entries(options.env ?? {})) words.push('--env', `${name}=${value}`);
  if (options.config !== undefined) words.push('--config', options.config);
  if (options.timeout !== undefined) words.push('--timeout', options.timeout);
  return [...words, ...(options.flags ?? [])];
}

/**
 * Runs a guest program as `wasinn run` does. Resolves with {code, signal, stdout, stderr}, whatever the code is.
 * options.signal, an AbortSignal, ends it and rejects.
 */
function run(guest, args = [], options = {}) {
  return new Promise((resolve, reject) => {
    const child = spawn(command, ['run', ...flags(options), String(guest), ...args.map(String)], {
      cwd: options.cwd, signal: options.signal, stdio: ['pipe', 'pipe', 'pipe'],
    });
    const written = { stdout: [], stderr: [] };
    for (const name of ['stdout', 'stderr']) child[name].on('data', (piece) => written[name].push(piece));
    child.stdin.on('error', () => {}); // a guest need not read
    child.stdin.end(options.stdin ?? '');
    child.on('error', reject);
    child.on('close', (code, signal) => {
      resolve({ code, signal, stdout: Buffer.concat(written.stdout), stderr: Buffer.concat(written.stderr).toString() });
    });
  });
}

module.exports = { command, prefix, run };
