//! plug-component SOCKET PLUG OUT: what PLUG exports becomes what SOCKET imports, as `wac plug` does it. wac itself takes four times as long to compile.

use std::env;
use std::fs;

use anyhow::{Context, Result, bail};
use wac_graph::types::Package;
use wac_graph::{CompositionGraph, EncodeOptions, plug};

fn main() -> Result<()> {
    let arguments: Vec<String> = env::args().skip(1).collect();
    let [socket, plug_in, out] = arguments.as_slice() else { bail!("usage: plug-component SOCKET PLUG OUT") };
    let mut graph = CompositionGraph::new();
    let mut register = |name: &str, path: &str| {
        let package = Package::from_file(name, None, path, graph.types_mut()).with_context(|| path.to_owned())?;
        Ok::<_, anyhow::Error>(graph.register_package(package)?)
    };
    let (socket, plug_in) = (register("socket", socket)?, register("plug", plug_in)?);
    plug(&mut graph, vec![plug_in], socket)?;
    Ok(fs::write(out, graph.encode(EncodeOptions::default())?)?)
}
