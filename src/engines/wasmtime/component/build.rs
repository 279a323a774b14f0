fn main() {
    // Calls within this library stay within it, and so do the addresses of its functions, even if another libwasmtime
    // was loaded before: see link.rs.
    println!("cargo::rustc-cdylib-link-arg=-Wl,-Bsymbolic-functions");
    println!("cargo::rustc-cdylib-link-arg=-Wl,-soname,libwasmtime.so");
    println!("cargo::rerun-if-changed=build.rs");
}
