// The part of the form that one input of a model is given by.
import {element, labelled, select} from "./dom.js";
import {arrange, decodeImage, decodeSound, scaler} from "./media.js";
import {DATATYPES, isFloat, pack} from "./tensors.js";

const KINDS = [["image", "an image"], ["sound", "a sound"], ["text", "a text"], ["numbers", "numbers"], ["zeros", "zeros"]];
const USUAL_SIDE = 224;
const MOST_ELEMENTS = 2 ** 26;

const numberInput = (value, min = 1) => element("input", {type: "number", min, step: 1, value, required: true});
const listOf = (text) => text.split(/[\s,;[\]]+/).filter((one) => one !== "");
const product = (shape) => shape.reduce((all, one) => all * one, 1);

function numbersOf(text) {
  const numbers = listOf(text);
  const wrong = numbers.find((one) => Number.isNaN(Number(one)) && one !== "NaN");
  if (wrong !== undefined) throw new Error(`${wrong} is not a number`);
  return numbers;
}

// The axes of a shape that are an image's; null: it is none.
function axesOf(shape) {
  const rank = shape.length;
  const isChannels = (axis) => shape[axis] === 1 || shape[axis] === 3;
  if (rank !== 3 && rank !== 4) return null;
  if (isChannels(rank - 3)) return {layout: "NCHW", channels: shape[rank - 3], height: shape[rank - 2], width: shape[rank - 1]};
  if (isChannels(rank - 1)) return {layout: "NHWC", channels: shape[rank - 1], height: shape[rank - 3], width: shape[rank - 2]};
  return null;
}

function guessKind({datatype, shape}) {
  if (datatype === "BYTES") return "text";
  if (axesOf(shape) !== null) return "image";
  const long = shape.at(-1) === -1 || shape.at(-1) >= 256;
  return isFloat(datatype) && shape.length <= 2 && shape.length > 0 && long ? "sound" : "numbers";
}

export class InputForm {
  constructor(input) {
    this.input = input;
    this.kind = select(KINDS, guessKind(input));
    this.datatype = select(DATATYPES.map((one) => [one, one]), input.datatype);
    this.datatypeLabel = labelled("Datatype", this.datatype);
    const isFloating = isFloat(input.datatype);
    this.parts = {
      image: this.makeImage(isFloating), sound: this.makeSound(isFloating), text: this.makeText(), numbers: this.makeNumbers(), zeros: [],
    };
    this.shape = element("input", {value: input.shape.join(", ")});
    this.shapeLabel = labelled("Shape", this.shape);
    this.more = element("div", {className: "row"});
    const title = element("legend", {}, input.name, " ", element("small", {}, `${input.datatype} [${input.shape.join(", ")}]`));
    const first = element("div", {className: "row"}, labelled("Is", this.kind), this.datatypeLabel, this.shapeLabel);
    this.element = element("fieldset", {}, title, first, this.more, this.canvas, this.textLabel, this.numbersLabel);
    this.kind.addEventListener("change", () => this.chooseKind());
    this.chooseKind();
  }

  chooseKind() {
    const kind = this.kind.value;
    this.more.replaceChildren(...this.parts[kind]);
    this.datatypeLabel.hidden = kind === "text";
    this.shapeLabel.hidden = kind !== "numbers" && kind !== "zeros";
    this.canvas.hidden = true;
    this.textLabel.hidden = kind !== "text";
    this.numbersLabel.hidden = kind !== "numbers";
  }

  makeImage(isFloating) {
    const axes = axesOf(this.input.shape) ?? {layout: "NCHW", channels: 3, height: -1, width: -1};
    const side = (one) => numberInput(one > 0 ? one : USUAL_SIDE);
    this.image = element("input", {type: "file", accept: "image/*"});
    this.layout = select([["NCHW", "channels first (NCHW)"], ["NHWC", "channels last (NHWC)"]], axes.layout);
    this.channels = select([["1", "1, gray"], ["3", "3, RGB"]], String(axes.channels));
    this.width = side(axes.width);
    this.height = side(axes.height);
    this.fit = select([["stretch", "stretch it"], ["crop", "crop its middle"]], "stretch");
    this.scale = select([["unit", "0 to 1"], ["signed", "-1 to 1"], ["raw", "0 to 255"], ["normal", "mean and deviation"]],
      isFloating ? "unit" : "raw");
    this.means = element("input", {value: "0.485, 0.456, 0.406"});
    this.deviations = element("input", {value: "0.229, 0.224, 0.225"});
    const normal = [labelled("Means", this.means), labelled("Deviations", this.deviations)];
    const offer = () => normal.forEach((one) => { one.hidden = this.scale.value !== "normal"; });
    this.scale.addEventListener("change", offer);
    offer();
    this.canvas = element("canvas", {hidden: true, ariaLabel: "the image as the model sees it"});
    this.canvas.setAttribute("role", "img");
    return [labelled("Image", this.image), labelled("Layout", this.layout), labelled("Channels", this.channels), labelled("Width", this.width),
      labelled("Height", this.height), labelled("To fit", this.fit), labelled("Values", this.scale), ...normal];
  }

  makeSound(isFloating) {
    this.sound = element("input", {type: "file", accept: "audio/*"});
    this.rate = numberInput(16000);
    this.amplitude = select([["1", "-1 to 1"], ["32768", "-32768 to 32767"]], isFloating ? "1" : "32768");
    return [labelled("Sound", this.sound), labelled("Samples per second", this.rate), labelled("Values", this.amplitude)];
  }

  makeText() {
    this.text = element("textarea", {rows: 4});
    this.textLabel = labelled("Text", this.text);
    return [];
  }

  makeNumbers() {
    this.numbers = element("textarea", {rows: 3, spellcheck: false});
    this.numbersLabel = labelled("Numbers, with spaces or commas between them", this.numbers);
    return [];
  }

  // As writeRequest takes it.
  async read() {
    const {name} = this.input;
    const read = {image: () => this.readImage(), sound: () => this.readSound(), numbers: () => this.readNumbers(),
      zeros: () => this.readZeros()}[this.kind.value];
    if (!read) return {name, datatype: "BYTES", shape: [1], data: [this.text.value]};
    const datatype = this.datatype.value;
    if (datatype === "BYTES") throw new Error(`${name}: choose a datatype of numbers`);
    try {
      const {shape, numbers} = await read();
      return {name, datatype, shape, bytes: pack(datatype, numbers)};
    } catch (error) {
      throw new Error(`${name}: ${error.message}`, {cause: error});
    }
  }

  async readImage() {
    const file = this.image.files[0];
    if (!file) throw new Error("choose an image");
    const [width, height, channels] = [this.width, this.height, this.channels].map((one) => Number(one.value));
    const rgba = await decodeImage(file, width, height, this.fit.value, this.canvas);
    this.canvas.hidden = false;
    const [means, deviations] = [this.means, this.deviations].map((one) => numbersOf(one.value).map(Number));
    const scale = scaler(this.scale.value, means, deviations);
    const layout = this.layout.value;
    const shape = layout === "NCHW" ? [channels, height, width] : [height, width, channels];
    if (this.input.shape.length !== 3) shape.unshift(1);
    return {shape, numbers: arrange(rgba, channels, layout, scale)};
  }

  async readSound() {
    const file = this.sound.files[0];
    if (!file) throw new Error("choose a sound");
    const amplitude = Number(this.amplitude.value);
    let numbers = await decodeSound(file, Number(this.rate.value));
    if (amplitude !== 1) numbers = numbers.map((one) => Math.max(-amplitude, Math.min(amplitude - 1, one * amplitude)));
    // As long as the model's input: cut off, or with silence at the end.
    const length = this.input.shape.at(-1) ?? -1;
    if (length > 0) {
      const fitted = new Float32Array(length);
      fitted.set(numbers.subarray(0, length));
      numbers = fitted;
    }
    const shape = this.input.shape.slice(0, -1).map(() => 1);
    return {shape: [...shape, numbers.length], numbers};
  }

  // The shape of the field; `count` elements give the one dimension of any size (-1).
  readShape(count) {
    const shape = numbersOf(this.shape.value).map(Number);
    const open = shape.indexOf(-1);
    if (open >= 0) shape[open] = Math.max(1, Math.floor(count / product(shape.filter((one) => one !== -1))));
    if (shape.some((one) => !Number.isInteger(one) || one < 0)) throw new Error(`${this.shape.value} is not a shape`);
    if (product(shape) > MOST_ELEMENTS) throw new Error(`${this.shape.value} is too large`);
    return shape;
  }

  async readNumbers() {
    const numbers = numbersOf(this.numbers.value);
    const shape = this.readShape(numbers.length);
    if (product(shape) !== numbers.length) throw new Error(`its shape has ${product(shape)} numbers, and here are ${numbers.length}`);
    return {shape, numbers};
  }

  async readZeros() {
    const shape = this.readShape(1);
    return {shape, numbers: new Float32Array(product(shape))};
  }
}
