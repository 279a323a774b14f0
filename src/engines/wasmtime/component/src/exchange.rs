//! A request and its answer across the C boundary: the structs of ../handler_abi.h.

use http::{HeaderMap, HeaderName, HeaderValue, Method, Request, Uri};
use std::ffi::c_void;
use std::slice;
use wasinn_sys::wasinn_bytes as Bytes;
use wasmtime::{Result, bail};

/// `wasinn_http_field`
#[repr(C)]
pub struct Field {
    pub name: Bytes,
    pub value: Bytes,
}

/// `wasinn_http_request`. The memory behind its pointers outlives the store.
#[repr(C)]
pub struct HttpRequest {
    struct_size: u32,
    method: Bytes,
    pub scheme: Bytes,
    authority: Bytes,
    path_with_query: Bytes,
    fields: *const Field,
    n_fields: usize,
    body: Bytes,
}

/// `wasinn_http_answer`: receives the answer, on the thread that runs the guest. The functions return false to stop it.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct HttpAnswer {
    struct_size: u32,
    user: *mut c_void,
    begin: unsafe extern "C" fn(*mut c_void, u32, *const Field, usize) -> bool,
    write: unsafe extern "C" fn(*mut c_void, Bytes) -> bool,
    /// Why the answer is missing or incomplete: the text follows "the guest".
    fail: unsafe extern "C" fn(*mut c_void, Bytes),
    /// The request cannot be passed to any guest.
    refuse: unsafe extern "C" fn(*mut c_void, Bytes),
    /// Whether the guest should end; in a service, whether this answer is not wanted any more.
    is_interrupted: unsafe extern "C" fn(*mut c_void) -> bool,
    /// Whether the guest may send a request to this scheme and authority. NULL: it may send none.
    allows: Option<Allows>,
}

pub type Allows = unsafe extern "C" fn(*mut c_void, Bytes, Bytes) -> bool;

/// Decides which requests a guest may send.
pub struct Permission {
    user: *mut c_void,
    allows: Allows,
}

// SAFETY: only the thread that runs the guest uses it.
unsafe impl Send for Permission {}

impl Permission {
    /// # Safety
    /// `allows` may be called with `user` on this thread for as long as this object lives.
    pub unsafe fn new(user: *mut c_void, allows: Allows) -> Self {
        Permission { user, allows }
    }

    pub fn allows(&self, scheme: &str, authority: &str) -> bool {
        // SAFETY: the creator of this object guarantees it.
        unsafe { (self.allows)(self.user, bytes_of(scheme.as_bytes()), bytes_of(authority.as_bytes())) }
    }
}

#[cfg(target_pointer_width = "64")]
const _: () = {
    assert!(size_of::<Field>() == 32);
    assert!(size_of::<HttpRequest>() == 104);
    assert!(size_of::<HttpAnswer>() == 64);
};

/// # Safety
/// The memory is valid for as long as the result is used.
pub unsafe fn slice_of<'a>(bytes: &Bytes) -> &'a [u8] {
    if bytes.size == 0 {
        return &[];
    }
    // SAFETY: the caller guarantees it.
    unsafe { slice::from_raw_parts(bytes.data, bytes.size) }
}

pub fn bytes_of(slice: &[u8]) -> Bytes {
    Bytes { data: slice.as_ptr(), size: slice.len() }
}

impl HttpRequest {
    /// # Safety
    /// The struct's pointers are valid. The body's memory is valid for as long as the result of `take_body` uses it.
    pub unsafe fn read<B>(&self, take_body: impl FnOnce(&'static [u8]) -> B) -> Result<Request<B>> {
        if (self.struct_size as usize) < size_of::<HttpRequest>() {
            bail!("the request has struct_size {}, and {} is the least", self.struct_size, size_of::<HttpRequest>());
        }
        // SAFETY: the caller guarantees it.
        unsafe {
            let uri = Uri::builder().scheme(slice_of(&self.scheme)).authority(slice_of(&self.authority));
            let uri = uri.path_and_query(slice_of(&self.path_with_query)).build()?;
            let mut request = Request::new(take_body(slice_of(&self.body)));
            *request.method_mut() = Method::from_bytes(slice_of(&self.method))?;
            *request.uri_mut() = uri;
            let fields = if self.n_fields == 0 { &[] } else { slice::from_raw_parts(self.fields, self.n_fields) };
            for field in fields {
                let name = HeaderName::from_bytes(slice_of(&field.name))?;
                request.headers_mut().try_append(name, HeaderValue::from_bytes(slice_of(&field.value))?)?;
            }
            Ok(request)
        }
    }
}

impl HttpAnswer {
    pub fn may_send(&self) -> bool {
        self.struct_size as usize >= size_of::<HttpAnswer>() && self.allows.is_some()
    }

    /// # Safety
    /// The permission is not used after the call for which the embedder made this struct, nor on another thread.
    pub unsafe fn permission(&self) -> Option<Permission> {
        if !self.may_send() {
            return None;
        }
        // SAFETY: the caller guarantees it.
        self.allows.map(|allows| unsafe { Permission::new(self.user, allows) })
    }

    pub fn begin(&self, status: u16, headers: &HeaderMap) -> bool {
        let field = |(name, value): (&HeaderName, &HeaderValue)| Field {
            name: bytes_of(name.as_str().as_bytes()),
            value: bytes_of(value.as_bytes()),
        };
        let fields: Vec<Field> = headers.iter().map(field).collect();
        // SAFETY: the embedder guarantees it; the fields live until it returns.
        unsafe { (self.begin)(self.user, status.into(), fields.as_ptr(), fields.len()) }
    }

    pub fn write(&self, bytes: &[u8]) -> bool {
        // SAFETY: as above.
        unsafe { (self.write)(self.user, bytes_of(bytes)) }
    }

    pub fn fail(&self, why: &str) {
        // SAFETY: as above.
        unsafe { (self.fail)(self.user, bytes_of(why.as_bytes())) }
    }

    pub fn refuse(&self, why: &str) {
        // SAFETY: as above.
        unsafe { (self.refuse)(self.user, bytes_of(why.as_bytes())) }
    }

    pub fn is_interrupted(&self) -> bool {
        // SAFETY: as above.
        unsafe { (self.is_interrupted)(self.user) }
    }

    pub fn user(&self) -> *mut c_void {
        self.user
    }
}
