;; A guest without WASI: it asks the model "digits" which digit is in the image that the host chose.
;;
;;   classify(image: 0 or 1) -> the digit, or minus the errno of the call that failed
(module
  (import "wasi_ephemeral_nn" "load_by_name" (func $load_by_name (param i32 i32 i32) (result i32)))
  (import "wasi_ephemeral_nn" "init_execution_context" (func $init_execution_context (param i32 i32) (result i32)))
  (import "wasi_ephemeral_nn" "set_input" (func $set_input (param i32 i32 i32) (result i32)))
  (import "wasi_ephemeral_nn" "compute" (func $compute (param i32) (result i32)))
  (import "wasi_ephemeral_nn" "get_output" (func $get_output (param i32 i32 i32 i32 i32) (result i32)))

  (memory (export "memory") 1)
  (data (i32.const 0) "digits")
  ;; At 16 the dims 1, 1, 8, 8; at 32 the tensor: dims, their number, type f32, data, bytes.
  (data (i32.const 16) "\01\00\00\00\01\00\00\00\08\00\00\00\08\00\00\00")
  (data (i32.const 32) "\10\00\00\00\04\00\00\00\01\00\00\00\00\03\00\00\00\01\00\00")
  ;; At 64 and 128 the images, brightness 0 to 9.
  (data (i32.const 64)
    "01799960"
    "03963210"
    "03942000"
    "05999300"
    "02526800"
    "00017800"
    "00279300"
    "01985000")
  (data (i32.const 128)
    "00279930"
    "00664960"
    "00001860"
    "03655920"
    "05999950"
    "01259300"
    "00068000"
    "00293000")
  ;; At 512 the graph, at 516 the context, at 520 the bytes of output; at 768 the input, at 1024 ten scores.

  ;; The image as the model's input, 64 f32 from 0 to 1.
  (func $draw (param $image i32)
    (local $pixel i32)
    (loop $next
      (f32.store offset=768 (i32.shl (local.get $pixel) (i32.const 2))
        (f32.div
          (f32.convert_i32_u
            (i32.sub
              (i32.load8_u offset=64 (i32.add (i32.shl (local.get $image) (i32.const 6)) (local.get $pixel)))
              (i32.const 48)))  ;; '0'
          (f32.const 9)))
      (br_if $next (i32.lt_u (local.tee $pixel (i32.add (local.get $pixel) (i32.const 1))) (i32.const 64)))))

  ;; The digit with the highest score.
  (func $best (result i32)
    (local $digit i32) (local $best i32)
    (loop $next
      (if (f32.gt
            (f32.load offset=1024 (i32.shl (local.get $digit) (i32.const 2)))
            (f32.load offset=1024 (i32.shl (local.get $best) (i32.const 2))))
        (then (local.set $best (local.get $digit))))
      (br_if $next (i32.lt_u (local.tee $digit (i32.add (local.get $digit) (i32.const 1))) (i32.const 10))))
    (local.get $best))

  (func (export "classify") (param $image i32) (result i32)
    (local $errno i32)
    (call $draw (local.get $image))
    (block $failed
      (br_if $failed (local.tee $errno (call $load_by_name (i32.const 0) (i32.const 6) (i32.const 512))))
      (br_if $failed (local.tee $errno
        (call $init_execution_context (i32.load (i32.const 512)) (i32.const 516))))
      (br_if $failed (local.tee $errno
        (call $set_input (i32.load (i32.const 516)) (i32.const 0) (i32.const 32))))
      (br_if $failed (local.tee $errno (call $compute (i32.load (i32.const 516)))))
      (br_if $failed (local.tee $errno
        (call $get_output (i32.load (i32.const 516)) (i32.const 0) (i32.const 1024) (i32.const 40) (i32.const 520))))
      (return (call $best)))
    (i32.sub (i32.const 0) (local.get $errno))))
