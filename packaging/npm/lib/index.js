'use strict';
// wasi-nn for Node: index.d.ts says what each part is.

const { fileURLToPath } = require('node:url');
const addon = require('../wasinn.node');
const { command, prefix, run } = require('./command.js');
const { Tensor, receive, send, toTensor } = require('./tensor.js');

const LEVELS = ['error', 'warning', 'info', 'debug'];
// Objects that were not closed are dropped when they are collected.
const forgotten = new FinalizationRegistry((drop) => drop());

// Values for C have the right type, and no text has a NUL, at which C would end it.
function text(what, value) {
  if (typeof value !== 'string') throw new TypeError(`${what} is a string; found ${value === null ? 'null' : typeof value}`);
  if (value.includes('\0')) throw new TypeError(`${what} has a NUL`);
  return value;
}

function json(what, value) { return text(what, JSON.stringify(value)); }

// undefined, or the checked value.
function optional(value, check) { return value === undefined ? undefined : check(value); }

function count(what, value) {
  if (!Number.isInteger(value) || value < 0 || value >= 2 ** 32) throw new TypeError(`${what} is a whole number from 0`);
  return value;
}

function flag(what, value) {
  if (typeof value !== 'boolean') throw new TypeError(`${what} is true or false`);
  return value;
}

function modelOptions({ encoding, target, config, version, warmUp, isolate, immutable, preload }) {
  const texts = { encoding, target };
  const counts = { version, warmUp };
  const flags = { isolate, immutable, preload };
  const checked = { config: optional(config, (value) => json('config', value)) };
  for (const [options, check] of [[texts, text], [counts, count], [flags, flag]]) {
    for (const [name, value] of Object.entries(options)) checked[name] = optional(value, (given) => check(name, given));
  }
  return checked;
}

function toBytes(model) {
  return Array.from(Array.isArray(model) ? model : [model], (part) => {
    if (part instanceof ArrayBuffer) return new Uint8Array(part);
    if (!ArrayBuffer.isView(part)) throw new TypeError('a model is a typed array, or an array of them');
    return new Uint8Array(part.buffer, part.byteOffset, part.byteLength);
  });
}

function entries({ config, configFile, settings }) {
  const list = [];
  if (configFile !== undefined) list.push(['file', toPath(configFile)]);
  if (config !== undefined) list.push(['text', text('config', config)]);
  for (const [key, value] of Object.entries(settings ?? {})) {
    list.push(['set', text('a setting', key), typeof value === 'string' ? text(key, value) : json(key, value)]);
  }
  return list;
}

class Host {
  #native;

  constructor(options = {}) {
    const { log } = options;
    if (log !== undefined && typeof log !== 'function') throw new TypeError('log is a function');
    this.#native = new addon.NativeHost(entries(options), log && ((level, message) => log(LEVELS[level], message)));
  }

  addModel(name, model, options = {}) {
    const where = typeof model === 'string' || model instanceof URL ? { path: toPath(model) } : { parts: toBytes(model) };
    this.#native.addModel(text('a name', name), { ...modelOptions(options), ...where });
  }

  addModels(folder) { this.#native.addModels(toPath(folder)); }
  removeModel(name) { this.#native.removeModel(text('a name', name)); }
  models() { return this.#native.models(); }
  backends() { return this.#native.backends(); }
  metrics() { return this.#native.metrics(); }
  guest({ name = '' } = {}) { return new Guest(MAKE, new addon.NativeGuest(this.#native, text('a name', name))); }
}

const MAKE = Symbol('make'); // classes that only this module makes

function toPath(where) { return text('a path', where instanceof URL ? fileURLToPath(where) : where); }

function onlyMade(key, name) {
  if (key !== MAKE) throw new TypeError(`a ${name} is not made by hand`);
}

class Guest {
  #native;
  #closed = false;

  constructor(key, native) {
    onlyMade(key, 'Guest');
    this.#native = native;
  }

  async loadByName(name, config) {
    return new Graph(MAKE, this.#native, await this.#native.loadByName(text('a name', name), config === undefined ? '' : json('config', config)));
  }

  async load(model, { encoding = 'autodetect', target = 'cpu' } = {}) {
    return new Graph(MAKE, this.#native, await this.#native.load(toBytes(model), text('encoding', encoding), text('target', target)));
  }

  close() {
    if (this.#closed) return;
    this.#closed = true;
    this.#native.close();
  }
}

// An object of a guest, which is dropped once.
class Owned {
  #drop;

  constructor(drop) {
    this.#drop = drop;
    forgotten.register(this, drop, this);
  }

  get closed() { return this.#drop === null; }

  close() {
    if (this.closed) return;
    forgotten.unregister(this);
    this.#drop();
    this.#drop = null;
  }
}

class Graph extends Owned {
  #native;
  #rep;

  constructor(key, native, rep) {
    onlyMade(key, 'Graph');
    super(() => native.dropGraph(rep));
    this.#native = native;
    this.#rep = rep;
    this.description = JSON.parse(native.describe(rep));
  }

  context() {
    if (this.closed) throw new Error('the graph is closed');
    return new Context(MAKE, this.#native, this.#native.context(this.#rep), this.description);
  }

  async compute(inputs) {
    const context = this.context();
    try {
      return await context.compute(inputs);
    } finally {
      context.close();
    }
  }
}

class Context extends Owned {
  #native;
  #rep;
  #inputs;
  #outputs;

  constructor(key, native, rep, description) {
    onlyMade(key, 'Context');
    super(() => native.dropContext(rep));
    this.#native = native;
    this.#rep = rep;
    this.#inputs = new Map((description.inputs ?? []).map((input) => [input.name, input]));
    this.#outputs = new Map((description.outputs ?? []).map((output) => [output.name, output]));
  }

  async compute(inputs) {
    if (this.closed) throw new Error('the context is closed');
    const sent = Object.entries(inputs).map(([name, input]) => send(text('a name', name), toTensor(name, input, this.#inputs.get(name))));
    const outputs = await this.#native.compute(this.#rep, sent);
    return Object.fromEntries(outputs.map((output) => [output[0], receive(output, this.#outputs.get(output[0]))]));
  }
}

if (Symbol.dispose) {
  for (const type of [Guest, Owned]) type.prototype[Symbol.dispose] = function dispose() { this.close(); };
}

module.exports = { Context, Graph, Guest, Host, Tensor, command, prefix, run, version: addon.version };
