use std::cell::Cell;
use std::fs;

use wasinn_guest::{Context, Encoding, Graph, Input, Output, Result, Target};

use crate::Outcome;

const PIXELS: usize = 64;
const CLASSES: usize = 10;
const DIMS: [u32; 4] = [1, 1, 8, 8];
/// A key of contexts, so that the model is the one that all guests share.
const CONFIG: &str = r#"{"outputs":["probabilities"]}"#;

struct Job {
    model: Vec<u8>,
    images: Vec<f32>,
    scores: Vec<f32>,
}

impl Job {
    /// Calls `classify` with each image, and the place for its scores.
    fn each(&mut self, mut classify: impl FnMut(&[f32], &mut [f32]) -> Result<()>) -> Result<()> {
        let images = self.images.chunks_exact(PIXELS);
        let at = self.scores.len();
        self.scores.resize(at + images.len() * CLASSES, 0.0);
        images.zip(self.scores[at..].chunks_exact_mut(CLASSES)).try_for_each(|(image, scores)| classify(image, scores))
    }
}

fn by_index(job: &mut Job) -> Result<()> {
    let graph = Graph::load_by_name("digits")?;
    let context = graph.init_execution_context()?;
    job.each(|image, scores| {
        context.set_input(0, image, &DIMS)?;
        context.compute()?;
        assert_eq!(context.get_output(0, scores)?, CLASSES);
        Ok(())
    })?;
    context.finalize()?;
    graph.unload()
}

fn by_name(job: &mut Job) -> Result<()> {
    let context = Graph::load_by_name("digits")?.init_execution_context()?;
    job.each(|image, scores| {
        context.set_input_by_name("image", image, &DIMS)?;
        context.compute()?;
        assert_eq!(context.get_output_by_name("probabilities", scores)?, CLASSES);
        Ok(())
    })
}

fn vectors(context: Context, job: &mut Job) -> Result<()> {
    job.each(|image, scores| {
        context.set_input(0, image, &DIMS)?;
        context.compute()?;
        scores.copy_from_slice(&context.get_output_vec::<f32>(0)?);
        assert_eq!(scores, context.get_output_vec_by_name::<f32>("probabilities")?);
        Ok(())
    })
}

fn configured(job: &mut Job) -> Result<()> {
    vectors(Graph::load_by_name_with_config("digits", CONFIG)?.init_execution_context()?, job)
}

fn from_bytes(job: &mut Job) -> Result<()> {
    vectors(Graph::load(&[&job.model], Encoding::ONNX, Target::Cpu)?.init_execution_context()?, job)
}

fn from_bytes_of_a_format(job: &mut Job) -> Result<()> {
    vectors(Graph::load_as(&[&job.model], "onnx", Target::Auto)?.init_execution_context()?, job)
}

/// Outputs that compute writes, first to one place and then to another.
fn written(job: &mut Job) -> Result<()> {
    let places = [const { Cell::new(0f32) }; 2 * CLASSES];
    let sizes = [const { Cell::new(0) }; 2];
    let (first, second) = places.split_at(CLASSES);
    let mut context = Graph::load_by_name("digits")?.init_execution_context()?.into_writing();
    let mut count = 0;
    job.each(|image, scores| {
        let (place, size) = if count % 2 == 0 { (first, &sizes[0]) } else { (second, &sizes[1]) };
        if count % 4 < 2 {
            context.set_output(0, place, size)?;
        } else {
            context.set_output_by_name("probabilities", place, size)?;
        }
        size.set(0);
        context.set_input(0, image, &DIMS)?;
        context.compute()?;
        assert_eq!(size.get() as usize, size_of_val(scores));
        scores.iter_mut().zip(place).for_each(|(score, cell)| *score = cell.take());
        count += 1;
        Ok(())
    })?;
    context.finalize()
}

fn once(job: &mut Job) -> Result<()> {
    let context = Graph::load_by_name("digits")?.init_execution_context()?;
    job.each(|image, scores| {
        let mut outputs = [Output::named("probabilities", scores)];
        context.compute_once(&[Input::named("image", image, &DIMS)], &mut outputs)?;
        assert_eq!(outputs[0].written(), CLASSES * size_of::<f32>());
        Ok(())
    })
}

fn once_on_the_graph(job: &mut Job) -> Result<()> {
    let graph = Graph::load_by_name("digits")?;
    job.each(|image, scores| graph.compute_once(&[Input::new(0, image, &DIMS)], &mut [Output::new(0, scores)]))
}

type Way = fn(&mut Job) -> Result<()>;
const WAYS: [(&str, Way); 8] = [
    ("by_index", by_index),
    ("by_name", by_name),
    ("configured", configured),
    ("from_bytes", from_bytes),
    ("from_bytes_of_a_format", from_bytes_of_a_format),
    ("written", written),
    ("once", once),
    ("once_on_the_graph", once_on_the_graph),
];

pub fn run(model: &str, inputs: &str, outputs: &str) -> Outcome {
    let images = fs::read(inputs)?.chunks_exact(4).map(|bytes| f32::from_le_bytes(bytes.try_into().unwrap())).collect();
    let mut job = Job { model: fs::read(model)?, images, scores: vec![] };
    for (name, way) in WAYS {
        way(&mut job).map_err(|error| format!("{name}: {error}"))?;
        println!("{name} {}", job.scores.len() / CLASSES);
    }
    fs::write(outputs, job.scores.iter().flat_map(|score| score.to_le_bytes()).collect::<Vec<_>>())?;
    Ok(())
}
