// Asks the server, with the key that it may want.
import {byId} from "./dom.js";

const KEY = "wasinn-key";
const STATE = "/wasinn/state";

// Shows the field for a key if the server needs one, or if the page is for other keys.
function offerKey(path, response) {
  if (response.status === 401 || (response.status === 403 && path === STATE)) byId("key-form").hidden = false;
  else if (response.ok && path === STATE) byId("key-form").hidden = true;
}

// A response of any status.
export async function ask(path, options = {}) {
  const headers = new Headers(options.headers);
  const key = sessionStorage.getItem(KEY);
  if (key) headers.set("Authorization", `Bearer ${key}`);
  const response = await fetch(path, {...options, headers, cache: "no-store"});
  offerKey(path, response);
  return response;
}

// The response's JSON; throws the server's error.
export async function askJson(path, options) {
  const response = await ask(path, options);
  if (!response.ok) throw new Error(await errorOf(response));
  return response.json();
}

export async function errorOf(response) {
  const text = await response.text();
  try {
    return `${response.status}: ${JSON.parse(text).error}`;
  } catch {
    return `${response.status}: ${text.slice(0, 500)}`;
  }
}

// `used` is called when the user has given a key.
export function takeKeys(used) {
  byId("key-form").addEventListener("submit", (event) => {
    event.preventDefault();
    sessionStorage.setItem(KEY, byId("key").value);
    byId("key").value = "";
    byId("key-form").hidden = true;
    used();
  });
}
