// Shows the answer to GET /wasinn/state, again and again.
import {askJson, takeKeys} from "./client.js";
import {byId, element} from "./dom.js";
import {offerModels} from "./try.js";

const EVERY = 1500;  // ms

const count = (number) => number.toLocaleString("en");

function duration(ms) {
  if (ms === undefined) return "–";
  if (ms >= 1000) return `${(ms / 1000).toFixed(1)} s`;
  return `${ms.toFixed(ms < 10 ? 2 : 0)} ms`;
}

function bytes(number) {
  for (const [unit, size] of [["GiB", 2 ** 30], ["MiB", 2 ** 20], ["KiB", 2 ** 10]]) {
    if (number >= size) return `${+(number / size).toFixed(1)} ${unit}`;
  }
  return `${number} B`;
}

function uptime(seconds) {
  const hours = Math.floor(seconds / 3600);
  const minutes = Math.floor(seconds / 60) % 60;
  if (hours >= 48) return `${Math.floor(hours / 24)} days`;
  return hours > 0 ? `${hours} h ${minutes} min` : minutes > 0 ? `${minutes} min` : `${seconds} s`;
}

// Remembers the content of each place, and replaces it only after a change: the user may be reading or selecting it.
const shown = new Map();
function show(place, what, make) {
  const text = JSON.stringify(what);
  if (shown.get(place) === text) return;
  shown.set(place, text);
  byId(place).replaceChildren(...make());
}

const card = (name, value, more) =>
  element("div", {}, element("dt", {}, name), element("dd", {}, value, " ", element("small", {}, more)));

function showLoad(load) {
  const {workers, route_workers: guests, connections, memory_in_flight_bytes: memory} = load;
  show("load", load, () => [
    card("Requests in flight", count(load.requests_in_flight), "HTTP"),
    card("Calls in flight", count(load.grpc_calls_in_flight), "gRPC"),
    card("Waiting", count(workers.waiting + (guests?.waiting ?? 0)), "for a thread"),
    card("Threads for models", count(workers.busy), `of ${count(workers.threads)} busy`),
    ...(guests ? [card("Threads for guests", count(guests.busy), `of ${count(guests.threads)} busy`)] : []),
    card("Connections", count(connections.http), `of ${count(connections.most)}`),
    card("Memory in flight", bytes(memory.held), `of ${bytes(memory.most)}`),
  ]);
}

// The note below a table.
function note(place, ...sentences) {
  byId(`${place}-note`).textContent = sentences.filter((sentence) => sentence !== "").join(" ");
}
const left = (number, what) => (number > 0 ? `${count(number)} more ${what} are not shown.` : "");

// Each cell has its column's head, for screens without room for a row of heads.
function row(place, cells) {
  const heads = [...byId(place).querySelectorAll("th")];
  const made = cells.map((cell, i) => {
    const td = element("td", {className: heads[i].className}, ...[cell].flat());
    td.dataset.label = heads[i].textContent;
    return td;
  });
  return element("tr", {}, ...made);
}

const tensors = (list) =>
  list === null ? "–" : list.map((one) => element("code", {}, `${one.name}: ${one.datatype} [${one.shape.join(", ")}]`));
const failures = (number) => element("span", {className: number > 0 ? "failed" : ""}, count(number));

function showTable(place, rows, makeRow) {
  const body = byId(place).tBodies[0];
  body.id = `${place}-body`;
  show(body.id, rows, () => rows.map(makeRow));
}

function showModels(state) {
  showTable("models", state.models, (model) => {
    const {succeeded, failed, latency_ms: latency} = model.inferences;
    const className = {loaded: "loaded", unloaded: "unloaded"}[model.state] ?? "";
    return row("models", [
      model.name, model.version, element("span", {className}, model.state), model.platform ?? "–", tensors(model.inputs),
      tensors(model.outputs), count(succeeded + failed), failures(failed), duration(latency?.p50), duration(latency?.p90),
      duration(latency?.p99),
    ]);
  });
  const {succeeded, failed} = state.guests_models;
  const brought = succeeded + failed > 0 ? `Models that guests brought: ${count(succeeded + failed)} inferences, ${count(failed)} failed.` : "";
  note("models", left(state.models_left_out, "models"), brought);
}

function showRoutes(state) {
  byId("routes-section").hidden = state.routes.length === 0;
  showTable("routes", state.routes, (route) =>
    row("routes", [route.path, route.file, route.kind, count(route.requests), failures(route.failures)]));
  note("routes", left(state.routes_left_out, "guests"));
}

function showServer(text, isBad) {
  byId("server").textContent = text;
  byId("server").className = isBad ? "bad" : "";
}

async function refresh() {
  try {
    const state = await askJson("/wasinn/state");
    showServer(`${state.server.version}, up for ${uptime(state.server.uptime_seconds)}`, false);
    showLoad(state.load);
    showModels(state);
    showRoutes(state);
    offerModels(state.models);
  } catch (error) {
    showServer(error instanceof TypeError ? "no answer" : error.message, true);
  }
}

let timer = 0;
async function go() {
  clearTimeout(timer);
  if (!document.hidden) await refresh();
  clearTimeout(timer);
  timer = setTimeout(go, EVERY);
}

document.addEventListener("visibilitychange", go);
takeKeys(go);
go();
