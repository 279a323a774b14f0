// A model's answer.
import {element} from "./dom.js";

const MOST_VALUES = 64;
const MOST_CLASSES = 5;

// A row of numbers, as classifiers give it.
function isClassLike({datatype, shape, data}) {
  const last = shape.at(-1) ?? 1;
  return datatype !== "BYTES" && last >= 2 && data.length === last;
}

function format(value) {
  if (value === null) return "none";  // no number of JSON
  return typeof value === "number" && !Number.isInteger(value) ? value.toPrecision(5) : String(value);
}

function topClasses(data) {
  const numbers = data.map(Number);
  const order = [...numbers.keys()].sort((a, b) => numbers[b] - numbers[a]).slice(0, MOST_CLASSES);
  const isShare = numbers.every((value) => value >= 0 && value <= 1);
  const rows = order.map((i) => element("tr", {},
    element("td", {}, String(i)), element("td", {className: "number"}, format(data[i])),
    isShare ? element("td", {}, element("meter", {min: 0, max: 1, value: numbers[i], ariaLabel: `value of ${i}`})) : null));
  const head = element("tr", {}, element("th", {scope: "col"}, "Index"), element("th", {scope: "col", className: "number"}, "Value"));
  return element("table", {className: "top"}, element("thead", {}, head), element("tbody", {}, ...rows));
}

function values(data) {
  const more = data.length - MOST_VALUES;
  const text = data.slice(0, MOST_VALUES).map(format).join(", ");
  return element("pre", {}, more > 0 ? `${text}, and ${more} more` : text);
}

export function showOutputs(outputs) {
  return outputs.map((output) => {
    const {name, datatype, shape, data} = output;
    const title = element("h3", {}, name, " ", element("small", {}, `${datatype} [${shape.join(", ")}]`));
    const body = [];
    if (datatype === "BYTES") body.push(element("pre", {}, data.join("\n")));
    else if (!isClassLike(output)) body.push(values(data));
    else body.push(topClasses(data), element("details", {}, element("summary", {}, "In their order"), values(data)));
    return element("div", {className: "output"}, title, ...body);
  });
}
