;; A guest without WASI, with the canonical ABI written out: it asks the model "digits" which digit is in the image that the
;; host chose.
;;
;;   classify(image: 0 or 1) -> the digit, or minus 1 minus the error-code of the call that failed
;;
;; It drops nothing but what it must: all goes with the guest.
(component
  (import "wasi:nn/tensor@0.2.0-rc-2024-10-28" (instance $tensors
    (export "tensor" (type $tensor (sub resource)))
    (type $cases (enum "FP16" "FP32" "FP64" "BF16" "U8" "I32" "I64"))
    (export "tensor-type" (type $tensor-type (eq $cases)))
    (export "[constructor]tensor" (func (param "dimensions" (list u32)) (param "ty" $tensor-type)
                                        (param "data" (list u8)) (result (own $tensor))))
    (export "[method]tensor.data" (func (param "self" (borrow $tensor)) (result (list u8))))))
  (alias export $tensors "tensor" (type $tensor))
  (import "wasi:nn/errors@0.2.0-rc-2024-10-28" (instance $errors
    (export "error" (type $error (sub resource)))
    (type $cases (enum "invalid-argument" "invalid-encoding" "timeout" "runtime-error" "unsupported-operation"
                       "too-large" "not-found" "security" "unknown"))
    (export "error-code" (type $error-code (eq $cases)))
    (export "[method]error.code" (func (param "self" (borrow $error)) (result $error-code)))))
  (alias export $errors "error" (type $error))
  (import "wasi:nn/inference@0.2.0-rc-2024-10-28" (instance $inference
    (alias outer 1 $error (type $error'))
    (export "error" (type $error (eq $error')))
    (alias outer 1 $tensor (type $tensor'))
    (export "tensor" (type $tensor (eq $tensor')))
    (export "graph-execution-context" (type $context (sub resource)))
    (type $named (tuple string (own $tensor)))
    (export "named-tensor" (type $named-tensor (eq $named)))
    (export "[method]graph-execution-context.compute"
      (func (param "self" (borrow $context)) (param "inputs" (list $named-tensor))
            (result (result (list $named-tensor) (error (own $error))))))))
  (alias export $inference "graph-execution-context" (type $context))
  (import "wasi:nn/graph@0.2.0-rc-2024-10-28" (instance $graphs
    (alias outer 1 $error (type $error'))
    (export "error" (type $error (eq $error')))
    (alias outer 1 $context (type $context'))
    (export "graph-execution-context" (type $context (eq $context')))
    (export "graph" (type $graph (sub resource)))
    (export "[method]graph.init-execution-context"
      (func (param "self" (borrow $graph)) (result (result (own $context) (error (own $error))))))
    (export "load-by-name" (func (param "name" string) (result (result (own $graph) (error (own $error))))))))

  (core module $Memory
    (memory (export "memory") 1)
    (global $next (mut i32) (i32.const 4096))
    (func (export "realloc") (param i32 i32 i32 i32) (result i32)
      (local $at i32)
      (local.set $at (i32.and (i32.add (global.get $next) (i32.const 15)) (i32.const -16)))
      (global.set $next (i32.add (local.get $at) (local.get 3)))
      (local.get $at)))
  (core instance $memory (instantiate $Memory))
  (alias core export $memory "memory" (core memory $bytes))
  (alias core export $memory "realloc" (core func $realloc))
  (alias export $graphs "load-by-name" (func $wit-load-by-name))
  (core func $load-by-name (canon lower (func $wit-load-by-name) (memory $bytes)))
  (alias export $graphs "[method]graph.init-execution-context" (func $wit-init))
  (core func $init (canon lower (func $wit-init) (memory $bytes)))
  (alias export $tensors "[constructor]tensor" (func $wit-tensor))
  (core func $tensor (canon lower (func $wit-tensor) (memory $bytes)))
  (alias export $inference "[method]graph-execution-context.compute" (func $wit-compute))
  (core func $compute (canon lower (func $wit-compute) (memory $bytes) (realloc $realloc)))
  (alias export $tensors "[method]tensor.data" (func $wit-data))
  (core func $data (canon lower (func $wit-data) (memory $bytes) (realloc $realloc)))
  (alias export $errors "[method]error.code" (func $wit-code))
  (core func $code (canon lower (func $wit-code)))

  (core module $Guest
    (import "memory" "memory" (memory 1))
    (import "nn" "load-by-name" (func $load-by-name (param i32 i32 i32)))
    (import "nn" "init" (func $init (param i32 i32)))
    (import "nn" "tensor" (func $tensor (param i32 i32 i32 i32 i32) (result i32)))
    (import "nn" "compute" (func $compute (param i32 i32 i32 i32)))
    (import "nn" "data" (func $data (param i32 i32)))
    (import "nn" "code" (func $code (param i32) (result i32)))
    (data (i32.const 0) "digits")
    ;; At 16 the dims 1, 1, 8, 8; at 32 the name of the model's input.
    (data (i32.const 16) "\01\00\00\00\01\00\00\00\08\00\00\00\08\00\00\00")
    (data (i32.const 32) "image")
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
    ;; At 512 the named tensor that goes in; at 528 what calls result in: 0, or 1 for an error, then what it is; at 768 the input.

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
    (func $best (param $scores i32) (result i32)
      (local $digit i32) (local $best i32)
      (loop $next
        (if (f32.gt
              (f32.load (i32.add (local.get $scores) (i32.shl (local.get $digit) (i32.const 2))))
              (f32.load (i32.add (local.get $scores) (i32.shl (local.get $best) (i32.const 2)))))
          (then (local.set $best (local.get $digit))))
        (br_if $next (i32.lt_u (local.tee $digit (i32.add (local.get $digit) (i32.const 1))) (i32.const 10))))
      (local.get $best))

    ;; Whether the call that wrote its result to 528 failed; then $failed has what to return.
    (global $failed (mut i32) (i32.const 0))
    (func $fails (result i32)
      (if (i32.eqz (i32.load8_u (i32.const 528))) (then (return (i32.const 0))))
      (global.set $failed (i32.sub (i32.const -1) (call $code (i32.load (i32.const 532)))))
      (i32.const 1))

    (func (export "classify") (param $image i32) (result i32)
      (local $context i32)
      (call $draw (local.get $image))
      (call $load-by-name (i32.const 0) (i32.const 6) (i32.const 528))
      (if (call $fails) (then (return (global.get $failed))))
      (call $init (i32.load (i32.const 532)) (i32.const 528))
      (if (call $fails) (then (return (global.get $failed))))
      (local.set $context (i32.load (i32.const 532)))
      ;; ("image", f32 [1, 1, 8, 8])
      (i32.store (i32.const 512) (i32.const 32))
      (i32.store (i32.const 516) (i32.const 5))
      (i32.store (i32.const 520)
        (call $tensor (i32.const 16) (i32.const 4) (i32.const 1) (i32.const 768) (i32.const 256)))
      (call $compute (local.get $context) (i32.const 512) (i32.const 1) (i32.const 528))
      (if (call $fails) (then (return (global.get $failed))))
      ;; The first output's bytes.
      (call $data (i32.load offset=8 (i32.load (i32.const 532))) (i32.const 528))
      (call $best (i32.load (i32.const 528)))))
  (core instance $guest (instantiate $Guest
    (with "memory" (instance $memory))
    (with "nn" (instance
      (export "load-by-name" (func $load-by-name))
      (export "init" (func $init))
      (export "tensor" (func $tensor))
      (export "compute" (func $compute))
      (export "data" (func $data))
      (export "code" (func $code))))))
  (alias core export $guest "classify" (core func $classify))
  (func (export "classify") (param "image" u32) (result s32) (canon lift (core func $classify))))
