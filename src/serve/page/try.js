// The form that sends an inference to a model.
import {ask, askJson, errorOf} from "./client.js";
import {byId, element} from "./dom.js";
import {InputForm} from "./inputs.js";
import {showOutputs} from "./outputs.js";
import {readResponse, writeRequest} from "./tensors.js";

let offered = "";
let metadata = null;  // of the model that is chosen; null: it is not known yet
let inputs = [];

const pathOf = (name, version) => `/v2/models/${encodeURIComponent(name)}/versions/${version}`;
const chosen = () => JSON.parse(byId("try-model").value || "null");

function showStatus(text, isBad = false) {
  byId("try-status").textContent = text;
  byId("try-status").className = isBad ? "bad" : "";
}

// Fills the select, if the models are new.
export function offerModels(models) {
  const values = models.map((model) => JSON.stringify([model.name, model.version]));
  if (values.join() === offered) return;
  offered = values.join();
  const before = byId("try-model").value;
  byId("try-model").replaceChildren(...models.map((model, i) =>
    element("option", {value: values[i]}, model.version === "1" ? model.name : `${model.name}, version ${model.version}`)));
  if (values.includes(before)) byId("try-model").value = before;
  else byId("try-inputs").replaceChildren();
  if (metadata === null || !values.includes(before)) choose();
}

// A form for each input. The model is loaded for that, if it was not.
async function choose() {
  metadata = null;
  inputs = [];
  byId("try-outputs").replaceChildren();
  byId("try-inputs").replaceChildren();
  const model = chosen();
  if (model === null) return;
  showStatus("asking for the model's inputs …");
  try {
    const answer = await askJson(pathOf(...model));
    if (JSON.stringify(chosen()) !== JSON.stringify(model)) return;  // another one was chosen in the meantime
    metadata = answer;
    inputs = answer.inputs.map((input) => new InputForm(input));
    byId("try-inputs").replaceChildren(...inputs.map((input) => input.element));
    byId("try-json").value = JSON.stringify({inputs: answer.inputs.map((input) => ({...input, data: []}))}, null, 1);
    showStatus("");
  } catch (error) {
    showStatus(error.message, true);
  }
}

function chooseMode() {
  const isJson = byId("try-mode").value === "json";
  byId("try-json-label").hidden = !isJson;
  byId("try-inputs").hidden = isJson;
}

async function makeRequest() {
  if (byId("try-mode").value === "json") {
    JSON.parse(byId("try-json").value);  // throws with the place of an error
    return {body: byId("try-json").value, headers: {"Content-Type": "application/json"}};
  }
  if (metadata === null) {
    await choose();  // it failed before
    throw new Error(metadata === null ? byId("try-status").textContent : "the model's inputs are known now: fill the form");
  }
  return writeRequest(await Promise.all(inputs.map((input) => input.read())));
}

async function send(event) {
  event.preventDefault();
  const model = chosen();
  if (model === null) return;
  byId("try-send").disabled = true;
  byId("try-outputs").replaceChildren();
  showStatus("computing …");
  try {
    const request = await makeRequest();
    const start = performance.now();
    const response = await ask(`${pathOf(...model)}/infer`, {method: "POST", ...request});
    if (!response.ok) throw new Error(await errorOf(response));
    const outputs = readResponse(await response.arrayBuffer(), response.headers.get("Inference-Header-Content-Length"));
    const took = performance.now() - start;
    showStatus(`Answered in ${took.toFixed(1)} ms, including the way there and back.`);
    byId("try-outputs").replaceChildren(...showOutputs(outputs));
  } catch (error) {
    showStatus(error.message, true);
  } finally {
    byId("try-send").disabled = false;
  }
}

byId("try-model").addEventListener("change", choose);
byId("try-mode").addEventListener("change", chooseMode);
byId("try").addEventListener("submit", send);
