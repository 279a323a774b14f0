//! Structs of numbers.

use wasinn_sys as sys;

/// A struct of this crate with the fields of one of C.
macro_rules! numbers {
    ($(#[$about:meta])* $name:ident of $c:ident { $($(#[$doc:meta])* $field:ident: $ty:ty,)* }) => {
        $(#[$about])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        #[non_exhaustive]
        pub struct $name {
            $($(#[$doc])* pub $field: $ty,)*
        }

        impl $name {
            /// `fill` gets a struct whose size is set, so it does not fail.
            pub(crate) fn read(fill: impl FnOnce(&mut sys::$c) -> *mut sys::wasinn_status) -> Self {
                let mut c = $name { $($field: 0,)* }.to_c();
                // SAFETY: the status is freed once.
                unsafe { sys::wasinn_status_free(fill(&mut c)) };
                $name { $($field: c.$field,)* }
            }

            pub(crate) fn to_c(self) -> sys::$c {
                sys::$c { struct_size: size_of::<sys::$c>() as u32, $($field: self.$field,)* }
            }
        }
    };
}

numbers! {
    /// The limits of one guest. The defaults, which [`Host::limits`](crate::Host::limits) has, are meant for guests that nobody
    /// trusts. A limit of 0 allows nothing, and a timeout of 0 is no deadline, unless the field says otherwise.
    Limits of wasinn_limits {
        /// Graphs held at once.
        max_graphs: u32,
        /// Contexts held at once.
        max_contexts: u32,
        /// Parts of one model.
        max_builders: u32,
        /// The length of a model's name.
        max_name_bytes: u32,
        /// Errors of this guest that go to the log.
        max_log_messages: u32,
        /// Bytes of the models that the guest loaded from its own bytes and holds.
        max_model_bytes: u64,
        /// Bytes of the inputs and outputs that it holds, and of what one compute allocates.
        max_tensor_bytes: u64,
        /// For one load, in milliseconds.
        load_timeout_ms: u32,
        /// For one compute or step, in milliseconds.
        compute_timeout_ms: u32,
        /// Tensors that a component holds at once.
        max_tensors: u32,
        /// Error objects that a component holds at once.
        max_errors: u32,
        /// For a whole run, in milliseconds. The program that runs the guest enforces it.
        run_timeout_ms: u32,
        /// Bytes of all linear memories, which the program that runs the guest enforces; also the most that one call of a
        /// component carries.
        max_memory_bytes: u64,
    }
}

numbers! {
    /// What a guest holds now, and what it has done so far.
    Statistics of wasinn_statistics {
        /// Graphs held now.
        graphs: u32,
        /// Contexts held now.
        contexts: u32,
        /// Bytes of models held now, as the limits count them.
        model_bytes: u64,
        /// Bytes of tensors held now, as the limits count them.
        tensor_bytes: u64,
        /// Copies of inputs so far.
        copies_in: u64,
        /// Copies of outputs so far.
        copies_out: u64,
        /// Bytes of the copies of inputs.
        bytes_in: u64,
        /// Bytes of the copies of outputs.
        bytes_out: u64,
        /// Bytes of models copied out of guest memory.
        model_bytes_copied: u64,
        /// Computes so far.
        computes: u64,
        /// Calls so far that ended in an error.
        errors: u64,
        /// Tensors of a component, held now.
        tensors: u32,
        /// Error objects of a component, held now.
        error_objects: u32,
        /// 1: a call of the guest is inside now.
        inside: u32,
    }
}
