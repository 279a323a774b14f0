;; The same as bench_component.wat over wasi:nn@0.3.0-draft: an iteration computes with several contexts at once, one
;; at first, and awaits them all.
(component
  (import "wasi:nn/tensor@0.3.0-draft" (instance $tensor
    (export "tensor" (type $tensor (sub resource)))
    (type $cases (enum "FP16" "FP32" "FP64" "BF16" "U8" "I32" "I64"))
    (export "tensor-type" (type $tensor-type (eq $cases)))
    (export "[constructor]tensor" (func (param "dimensions" (list u32)) (param "ty" $tensor-type) (param "data" (list u8))
                                        (result (own $tensor))))
    (export "[method]tensor.data" (func (param "self" (borrow $tensor)) (result (list u8))))))
  (alias export $tensor "tensor" (type $tensor-resource))

  (import "wasi:nn/errors@0.3.0-draft" (instance $errors
    (export "error" (type $error (sub resource)))
    (type $cases (enum "invalid-argument" "invalid-encoding" "timeout" "runtime-error" "unsupported-operation" "too-large"
                       "not-found" "security" "unknown"))
    (export "error-code" (type $error-code (eq $cases)))
    (export "[method]error.code" (func (param "self" (borrow $error)) (result $error-code)))))
  (alias export $errors "error" (type $error-resource))

  (import "wasi:nn/inference@0.3.0-draft" (instance $inference
    (alias outer 1 $error-resource (type $error'))
    (export "error" (type $error (eq $error')))
    (alias outer 1 $tensor-resource (type $tensor'))
    (export "tensor" (type $tensor (eq $tensor')))
    (export "graph-execution-context" (type $context (sub resource)))
    (type $named (tuple string (own $tensor)))
    (export "named-tensor" (type $named-tensor (eq $named)))
    (export "[method]graph-execution-context.compute"
      (func async (param "self" (borrow $context)) (param "inputs" (list $named-tensor))
                  (result (result (list $named-tensor) (error (own $error))))))))
  (alias export $inference "graph-execution-context" (type $context-resource))

  (import "wasi:nn/graph@0.3.0-draft" (instance $graph
    (alias outer 1 $error-resource (type $error'))
    (export "error" (type $error (eq $error')))
    (alias outer 1 $context-resource (type $context'))
    (export "graph-execution-context" (type $context (eq $context')))
    (export "graph" (type $graph (sub resource)))
    (export "[method]graph.init-execution-context"
      (func (param "self" (borrow $graph)) (result (result (own $context) (error (own $error))))))
    (export "load-by-name" (func async (param "name" string) (result (result (own $graph) (error (own $error))))))))

  (core module $Memory
    (memory (export "memory") 2)
    (global $next (export "next") (mut i32) (i32.const 0x10000))
    (func (export "realloc") (param $old i32) (param $old-size i32) (param $align i32) (param $size i32) (result i32)
      (local $at i32) (local $end i32) (local $have i32)
      (local.set $at (i32.and (i32.add (global.get $next) (i32.const 63)) (i32.const -64)))
      (local.set $end (i32.add (local.get $at) (local.get $size)))
      (local.set $have (i32.shl (memory.size) (i32.const 16)))
      (if (i32.gt_u (local.get $end) (local.get $have))
        (then
          (if (i32.eq (i32.const -1)
                (memory.grow (i32.shr_u (i32.add (i32.sub (local.get $end) (local.get $have)) (i32.const 65535))
                                        (i32.const 16))))
            (then unreachable))))
      (global.set $next (local.get $end))
      (local.get $at)))
  (core instance $memory (instantiate $Memory))
  (alias core export $memory "memory" (core memory $bytes))
  (alias core export $memory "realloc" (core func $realloc))

  (core func $tensor-new (canon lower (func $tensor "[constructor]tensor") (memory $bytes) (realloc (core func $realloc))))
  (core func $tensor-data (canon lower (func $tensor "[method]tensor.data") (memory $bytes) (realloc (core func $realloc))))
  (core func $tensor-drop (canon resource.drop $tensor-resource))
  (core func $load (canon lower (func $graph "load-by-name") async (memory $bytes) (realloc (core func $realloc))))
  (core func $init
    (canon lower (func $graph "[method]graph.init-execution-context") (memory $bytes) (realloc (core func $realloc))))
  (core func $compute
    (canon lower (func $inference "[method]graph-execution-context.compute") async
                 (memory $bytes) (realloc (core func $realloc))))
  (core func $error-code (canon lower (func $errors "[method]error.code")))
  (core func $set-new (canon waitable-set.new))
  (core func $set-wait (canon waitable-set.wait (memory $bytes)))
  (core func $join (canon waitable.join))
  (core func $subtask-drop (canon subtask.drop))
  (core instance $nn
    (export "tensor-new" (func $tensor-new))
    (export "tensor-data" (func $tensor-data))
    (export "tensor-drop" (func $tensor-drop))
    (export "load" (func $load))
    (export "init" (func $init))
    (export "compute" (func $compute))
    (export "error-code" (func $error-code))
    (export "set-new" (func $set-new))
    (export "set-wait" (func $set-wait))
    (export "join" (func $join))
    (export "subtask-drop" (func $subtask-drop)))

  ;; Places in memory: 0x100 what a call returns; 0x800 for each context itself, its call, and what that returns, 32 bytes
  ;; each; 0x1000 the named tensors for compute, 12 bytes each; 0x4000 pointer and length of each output.
  (core module $Main
    (import "memory" "memory" (memory 2))
    (import "memory" "next" (global $next (mut i32)))
    (import "nn" "tensor-new" (func $tensor-new (param i32 i32 i32 i32 i32) (result i32)))
    (import "nn" "tensor-data" (func $tensor-data (param i32 i32)))
    (import "nn" "tensor-drop" (func $tensor-drop (param i32)))
    (import "nn" "load" (func $load (param i32 i32 i32) (result i32)))
    (import "nn" "init" (func $init (param i32 i32)))
    (import "nn" "compute" (func $compute (param i32 i32 i32 i32) (result i32)))
    (import "nn" "error-code" (func $error-code (param i32) (result i32)))
    (import "nn" "set-new" (func $set-new (result i32)))
    (import "nn" "set-wait" (func $set-wait (param i32 i32) (result i32)))
    (import "nn" "join" (func $join (param i32 i32)))
    (import "nn" "subtask-drop" (func $subtask-drop (param i32)))
    (global $set (mut i32) (i32.const 0))
    (global $graph (mut i32) (i32.const 0))
    (global $contexts (mut i32) (i32.const 0))
    (global $inputs (mut i32) (i32.const 0))
    (global $n-inputs (mut i32) (i32.const 0))
    (global $start (mut i32) (i32.const 0))

    ;; Of the result there: 0, or the error-code and 1.
    (func $failure (param $at i32) (result i32)
      (if (result i32) (i32.load8_u (local.get $at))
        (then (i32.add (call $error-code (i32.load offset=4 (local.get $at))) (i32.const 1)))
        (else (i32.const 0))))

    ;; Until a call has returned.
    (func $await (param $called i32)
      (local $subtask i32)
      (local.set $subtask (i32.shr_u (local.get $called) (i32.const 4)))
      (if (i32.eqz (local.get $subtask)) (then (return)))
      (call $join (local.get $subtask) (global.get $set))
      (loop $again
        (drop (call $set-wait (global.get $set) (i32.const 0x100)))
        (br_if $again (i32.ne (i32.load (i32.const 0x104)) (i32.const 2))))
      (call $join (local.get $subtask) (i32.const 0))
      (call $subtask-drop (local.get $subtask)))

    (func (export "prepare") (param $name i32) (param $size i32) (param $inputs i32) (param $n i32) (result i32)
      (local $failure i32)
      (if (i32.gt_u (local.get $n) (i32.const 1024)) (then unreachable))
      (global.set $set (call $set-new))
      (global.set $inputs (local.get $inputs))
      (global.set $n-inputs (local.get $n))
      (global.set $start (global.get $next))
      (call $await (call $load (local.get $name) (local.get $size) (i32.const 0x110)))
      (local.set $failure (call $failure (i32.const 0x110)))
      (if (local.get $failure) (then (return (local.get $failure))))
      (global.set $graph (i32.load (i32.const 0x114)))
      (call $add-context))

    (func $add-context (export "add-context") (result i32)
      (local $failure i32)
      (if (i32.ge_u (global.get $contexts) (i32.const 64)) (then unreachable))
      (call $init (global.get $graph) (i32.const 0x100))
      (local.set $failure (call $failure (i32.const 0x100)))
      (if (local.get $failure) (then (return (local.get $failure))))
      (i32.store (call $place (global.get $contexts)) (i32.load (i32.const 0x104)))
      (global.set $contexts (i32.add (global.get $contexts) (i32.const 1)))
      (i32.const 0))
    (func $place (param $i i32) (result i32)
      (i32.add (i32.const 0x800) (i32.shl (local.get $i) (i32.const 5))))

    ;; An input as it was handed over: name, dimensions, type, data, each list a pointer and a length; 28 bytes.
    (func $make-inputs
      (local $i i32) (local $in i32) (local $named i32)
      (local.set $in (global.get $inputs))
      (local.set $named (i32.const 0x1000))
      (block $done
        (loop $next-input
          (br_if $done (i32.ge_u (local.get $i) (global.get $n-inputs)))
          (i64.store (local.get $named) (i64.load (local.get $in)))
          (i32.store offset=8 (local.get $named)
            (call $tensor-new (i32.load offset=8 (local.get $in)) (i32.load offset=12 (local.get $in))
                              (i32.load8_u offset=16 (local.get $in))
                              (i32.load offset=20 (local.get $in)) (i32.load offset=24 (local.get $in))))
          (local.set $in (i32.add (local.get $in) (i32.const 28)))
          (local.set $named (i32.add (local.get $named) (i32.const 12)))
          (local.set $i (i32.add (local.get $i) (i32.const 1)))
          (br $next-input))))

    (func (export "many") (param $n i32) (result i32)
      (local $failure i32)
      (loop $again
        (local.set $failure (call $iterate))
        (if (local.get $failure) (then (return (local.get $failure))))
        (local.set $n (i32.sub (local.get $n) (i32.const 1)))
        (br_if $again (local.get $n)))
      (i32.const 0))

    (func $iterate (export "iterate") (result i32)
      (local $i i32) (local $place i32) (local $failure i32)
      (global.set $next (global.get $start))
      (loop $next-context
        (local.set $place (call $place (local.get $i)))
        (call $make-inputs)
        (i32.store offset=4 (local.get $place)
          (call $compute (i32.load (local.get $place)) (i32.const 0x1000) (global.get $n-inputs)
                         (i32.add (local.get $place) (i32.const 8))))
        (local.set $i (i32.add (local.get $i) (i32.const 1)))
        (br_if $next-context (i32.lt_u (local.get $i) (global.get $contexts))))
      (loop $next-end
        (local.set $i (i32.sub (local.get $i) (i32.const 1)))
        (local.set $place (call $place (local.get $i)))
        (call $await (i32.load offset=4 (local.get $place)))
        (local.set $failure (call $read-outputs (i32.add (local.get $place) (i32.const 8))))
        (if (local.get $failure) (then (return (local.get $failure))))
        (br_if $next-end (local.get $i)))
      (i32.const 0))

    (func $read-outputs (param $result i32) (result i32)
      (local $failure i32) (local $i i32) (local $n i32) (local $named i32)
      (local.set $failure (call $failure (local.get $result)))
      (if (local.get $failure) (then (return (local.get $failure))))
      (local.set $named (i32.load offset=4 (local.get $result)))
      (local.set $n (i32.load offset=8 (local.get $result)))
      (if (i32.gt_u (local.get $n) (i32.const 1024)) (then unreachable))
      (block $done
        (loop $next-output
          (br_if $done (i32.ge_u (local.get $i) (local.get $n)))
          (call $tensor-data (i32.load offset=8 (local.get $named))
                             (i32.add (i32.const 0x4000) (i32.shl (local.get $i) (i32.const 3))))
          (call $tensor-drop (i32.load offset=8 (local.get $named)))
          (local.set $named (i32.add (local.get $named) (i32.const 12)))
          (local.set $i (i32.add (local.get $i) (i32.const 1)))
          (br $next-output)))
      (i32.const 0))

    ;; What calling iterate costs by itself.
    (func (export "nothing") (result i32) (i32.const 0))
    (func (export "output") (param $i i32) (result i32)
      (i32.add (i32.const 0x4000) (i32.shl (local.get $i) (i32.const 3)))))
  (core instance $main (instantiate $Main (with "memory" (instance $memory)) (with "nn" (instance $nn))))

  (func (export "prepare") async
    (param "model" string) (param "inputs" (list (tuple string (list u32) u8 (list u8)))) (result u32)
    (canon lift (core func $main "prepare") (memory $bytes) (realloc (core func $realloc))))
  (func (export "add-context") (result u32) (canon lift (core func $main "add-context")))
  (func (export "iterate") async (result u32) (canon lift (core func $main "iterate")))
  (func (export "many") async (param "iterations" u32) (result u32) (canon lift (core func $main "many")))
  (func (export "nothing") (result u32) (canon lift (core func $main "nothing")))
  (func (export "output") (param "index" u32) (result (list u8))
    (canon lift (core func $main "output") (memory $bytes))))
