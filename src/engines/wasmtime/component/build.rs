fn main() {
    // Calls within this library stay within it, and its own address of a function is its own, also where another
    // libwasmtime was loaded before: see link.rs.
    println!("cargo::rustc-cdylib-link-arg=-Wl,-Bsymbolic-functions");
    println!("cargo::rustc-cdylib-link-arg=-Wl,-soname,libwasmtime.so");
    println!("cargo::rerun-if-changed=build.rs");
}
