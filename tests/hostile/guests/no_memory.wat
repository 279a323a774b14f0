;; Imports all functions, and exports no memory. Each answers missing_memory (3); anything else is a trap. There is nothing
;; to print from, for WASI needs a memory, too.
(module
  (import "wasi_ephemeral_nn" "load" (func $load (param i32 i32 i32 i32 i32) (result i32)))
  (import "wasi_ephemeral_nn" "load_by_name" (func $load_by_name (param i32 i32 i32) (result i32)))
  (import "wasi_ephemeral_nn" "init_execution_context" (func $init (param i32 i32) (result i32)))
  (import "wasi_ephemeral_nn" "set_input" (func $set_input (param i32 i32 i32) (result i32)))
  (import "wasi_ephemeral_nn" "compute" (func $compute (param i32) (result i32)))
  (import "wasi_ephemeral_nn" "get_output" (func $get_output (param i32 i32 i32 i32 i32) (result i32)))
  (func $expect_missing_memory (param $error i32)
    (if (i32.ne (local.get $error) (i32.const 3)) (then unreachable)))
  (func (export "_start")
    (call $expect_missing_memory (call $load (i32.const 0) (i32.const 1) (i32.const 1) (i32.const 0) (i32.const 0)))
    (call $expect_missing_memory (call $load_by_name (i32.const 0) (i32.const 6) (i32.const 0)))
    (call $expect_missing_memory (call $init (i32.const 0) (i32.const 0)))
    (call $expect_missing_memory (call $set_input (i32.const 0) (i32.const 0) (i32.const 0)))
    (call $expect_missing_memory (call $compute (i32.const 0)))
    (call $expect_missing_memory
      (call $get_output (i32.const 0) (i32.const 0) (i32.const 0) (i32.const 0) (i32.const 0)))))
