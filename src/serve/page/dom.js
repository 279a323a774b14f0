// Elements. Names and texts of models become text nodes, and never markup.

// element("td", {className: "number"}, "7")
export function element(tag, properties = {}, ...children) {
  const made = Object.assign(document.createElement(tag), properties);
  made.append(...children.filter((child) => child !== null));
  return made;
}

export const byId = (id) => document.getElementById(id);

// A label around its control.
export const labelled = (text, control) => element("label", {}, text, control);

export function select(options, value) {
  const made = element("select", {}, ...options.map(([key, text]) => element("option", {value: key}, text)));
  made.value = value;
  return made;
}
