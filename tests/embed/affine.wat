;; Two models of the format "affine" (backends/template), which are y = 2 * x + 0.5: its own bytes, by the format's name, and the host's model "m", of three elements.
;; Traps where a call fails, or where the result is another.
(module
  (import "wasinn_ext_0" "load_as" (func $load_as (param i32 i32 i32 i32 i32 i32) (result i32)))
  (import "wasi_ephemeral_nn" "load_by_name" (func $load_by_name (param i32 i32 i32) (result i32)))
  (import "wasi_ephemeral_nn" "init_execution_context" (func $init (param i32 i32) (result i32)))
  (import "wasi_ephemeral_nn" "set_input" (func $set_input (param i32 i32 i32) (result i32)))
  (import "wasi_ephemeral_nn" "compute" (func $compute (param i32) (result i32)))
  (import "wasi_ephemeral_nn" "get_output" (func $get_output (param i32 i32 i32 i32 i32) (result i32)))
  (memory (export "memory") 1)
  (data (i32.const 0) "affine")
  (data (i32.const 8) "m")
  (data (i32.const 16) "AFF1\00\00\00\40\00\00\00\3f\00\00\00\00")  ;; 2, 0.5, of any shape
  (data (i32.const 32) "\10\00\00\00\10\00\00\00")  ;; the builder
  (data (i32.const 48) "\03\00\00\00")  ;; the dims
  (data (i32.const 64) "\30\00\00\00\01\00\00\00\01\00\00\00\60\00\00\00\0c\00\00\00")  ;; the tensor: dims, f32, data
  (data (i32.const 96) "\00\00\80\3f\00\00\00\c0\00\00\00\00")  ;; 1, -2, 0
  ;; At 128 the graph, at 132 the context, at 136 the bytes of output, at 160 the output.

  (func $check (param $errno i32)
    (if (local.get $errno) (then (unreachable))))
  (func $expect (param $place i32) (param $value f32)
    (if (f32.ne (f32.load (local.get $place)) (local.get $value)) (then (unreachable))))
  (func $infer
    (call $check (call $init (i32.load (i32.const 128)) (i32.const 132)))
    (call $check (call $set_input (i32.load (i32.const 132)) (i32.const 0) (i32.const 64)))
    (call $check (call $compute (i32.load (i32.const 132))))
    (memory.fill (i32.const 160) (i32.const 255) (i32.const 12))
    (call $check
      (call $get_output (i32.load (i32.const 132)) (i32.const 0) (i32.const 160) (i32.const 12) (i32.const 136)))
    (if (i32.ne (i32.load (i32.const 136)) (i32.const 12)) (then (unreachable)))
    (call $expect (i32.const 160) (f32.const 2.5))
    (call $expect (i32.const 164) (f32.const -3.5))
    (call $expect (i32.const 168) (f32.const 0.5)))

  (func (export "_start")
    (call $check
      (call $load_as (i32.const 32) (i32.const 1) (i32.const 0) (i32.const 6) (i32.const 0) (i32.const 128)))
    (call $infer)
    (call $check (call $load_by_name (i32.const 8) (i32.const 1) (i32.const 128)))
    (call $infer)
    ;; "affin" is no format.
    (if (i32.ne
          (call $load_as (i32.const 32) (i32.const 1) (i32.const 0) (i32.const 5) (i32.const 0) (i32.const 128))
          (i32.const 2))
      (then (unreachable)))))
