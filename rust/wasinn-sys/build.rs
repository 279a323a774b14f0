//! Finds libwasinn: in the folder that WASINN_PREFIX names, or else by pkg-config.

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    #[cfg(feature = "link")]
    if std::env::var_os("DOCS_RS").is_none() {
        link();
    }
}

#[cfg(feature = "link")]
fn link() {
    println!("cargo::rerun-if-env-changed=WASINN_PREFIX");
    let Some(prefix) = std::env::var_os("WASINN_PREFIX") else {
        if let Err(error) = pkg_config::Config::new().atleast_version("0.1").probe("wasinn") {
            panic!("libwasinn was not found. Install it, or name its prefix in WASINN_PREFIX.\n{error}");
        }
        return;
    };
    let prefix = std::path::PathBuf::from(prefix);
    let arch = std::env::var("CARGO_CFG_TARGET_ARCH").expect("cargo sets it");
    let folders = ["lib".into(), "lib64".into(), format!("lib/{arch}-linux-gnu")];
    let Some(folder) = folders.iter().map(|folder| prefix.join(folder)).find(|dir| dir.join("libwasinn.so").exists())
    else {
        panic!("WASINN_PREFIX is {}, and there is no lib/libwasinn.so", prefix.display());
    };
    println!("cargo::rustc-link-search=native={}", folder.display());
    println!("cargo::rustc-link-lib=dylib=wasinn");
}
