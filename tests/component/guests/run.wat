;; A program that prints its arguments and environment, a line each, and then does what the first letter of its first argument
;; says: trap, fail (run's result), exit (with failure), quit (with success), hang on to wasi:nn, or nothing.
;;
;; The tests set the versions: imports @IN@, the export @OUT@.
(component
  (import "wasi:io/error@@IN@" (instance $io-error (export "error" (type (sub resource)))))
  (alias export $io-error "error" (type $error))
  (import "wasi:io/streams@@IN@" (instance $streams
    (export "output-stream" (type $stream (sub resource)))
    (alias outer 1 $error (type $error'))
    (export "error" (type $e (eq $error')))
    (type $failure (variant (case "last-operation-failed" (own $e)) (case "closed")))
    (export "stream-error" (type $stream-error (eq $failure)))
    (export "[method]output-stream.blocking-write-and-flush"
      (func (param "self" (borrow $stream)) (param "contents" (list u8)) (result (result (error $stream-error)))))))
  (alias export $streams "output-stream" (type $output-stream))
  (import "wasi:cli/stdout@@IN@" (instance $stdout
    (alias outer 1 $output-stream (type $stream'))
    (export "output-stream" (type $stream (eq $stream')))
    (export "get-stdout" (func (result (own $stream))))))
  (import "wasi:cli/environment@@IN@" (instance $environment
    (export "get-environment" (func (result (list (tuple string string)))))
    (export "get-arguments" (func (result (list string))))))
  (import "wasi:cli/exit@@IN@" (instance $exit (export "exit" (func (param "status" (result))))))
  (import "wasi:nn/tensor@0.2.0-rc-2024-10-28" (instance $nn
    (export "tensor" (type $tensor (sub resource)))
    (type $cases (enum "FP16" "FP32" "FP64" "BF16" "U8" "I32" "I64"))
    (export "tensor-type" (type $tensor-type (eq $cases)))
    (export "[constructor]tensor" (func (param "dimensions" (list u32)) (param "ty" $tensor-type)
                                        (param "data" (list u8)) (result (own $tensor))))))

  (core module $Memory
    (memory (export "memory") 1)
    (global $next (mut i32) (i32.const 1024))
    (func (export "realloc") (param i32 i32 i32 i32) (result i32)
      (local $at i32)
      (local.set $at (i32.and (i32.add (global.get $next) (i32.const 7)) (i32.const -8)))
      (global.set $next (i32.add (local.get $at) (local.get 3)))
      (local.get $at)))
  (core instance $memory (instantiate $Memory))
  (alias core export $memory "memory" (core memory $bytes))
  (alias core export $memory "realloc" (core func $realloc))
  (alias export $stdout "get-stdout" (func $wit-get-stdout))
  (core func $get-stdout (canon lower (func $wit-get-stdout)))
  (alias export $streams "[method]output-stream.blocking-write-and-flush" (func $wit-write))
  (core func $write (canon lower (func $wit-write) (memory $bytes)))
  (alias export $environment "get-arguments" (func $wit-arguments))
  (core func $arguments (canon lower (func $wit-arguments) (memory $bytes) (realloc $realloc)))
  (alias export $environment "get-environment" (func $wit-environment))
  (core func $environment (canon lower (func $wit-environment) (memory $bytes) (realloc $realloc)))
  (alias export $exit "exit" (func $wit-exit))
  (core func $exit (canon lower (func $wit-exit)))
  (alias export $nn "[constructor]tensor" (func $wit-tensor))
  (core func $tensor (canon lower (func $wit-tensor) (memory $bytes)))

  (core module $Main
    (import "memory" "memory" (memory 1))
    (import "host" "get-stdout" (func $get-stdout (result i32)))
    (import "host" "write" (func $write (param i32 i32 i32 i32)))
    (import "host" "arguments" (func $arguments (param i32)))
    (import "host" "environment" (func $environment (param i32)))
    (import "host" "exit" (func $exit (param i32)))
    (import "host" "tensor" (func $tensor (param i32 i32 i32 i32 i32) (result i32)))
    (data (i32.const 16) "\n=")
    (global $stdout (mut i32) (i32.const 0))
    (func $print (param $at i32) (param $size i32)
      (call $write (global.get $stdout) (local.get $at) (local.get $size) (i32.const 32)))
    ;; The list at 0 and 4.
    (func $lines (param $stride i32)
      (local $at i32) (local $left i32)
      (local.set $at (i32.load (i32.const 0)))
      (local.set $left (i32.load (i32.const 4)))
      (block $done
        (loop $next
          (br_if $done (i32.eqz (local.get $left)))
          (call $print (i32.load (local.get $at)) (i32.load offset=4 (local.get $at)))
          (if (i32.eq (local.get $stride) (i32.const 16)) (then
            (call $print (i32.const 17) (i32.const 1))
            (call $print (i32.load offset=8 (local.get $at)) (i32.load offset=12 (local.get $at)))))
          (call $print (i32.const 16) (i32.const 1))
          (local.set $at (i32.add (local.get $at) (local.get $stride)))
          (local.set $left (i32.sub (local.get $left) (i32.const 1)))
          (br $next))))
    (func $is (param $letter i32) (result i32)
      (if (i32.lt_u (i32.load (i32.const 4)) (i32.const 2)) (then (return (i32.const 0))))
      (if (i32.eqz (i32.load offset=12 (i32.load (i32.const 0)))) (then (return (i32.const 0))))
      (i32.eq (i32.load8_u (i32.load offset=8 (i32.load (i32.const 0)))) (local.get $letter)))
    (func $trap unreachable)
    (func $run (export "run") (result i32)
      (global.set $stdout (call $get-stdout))
      (call $environment (i32.const 0))
      (call $lines (i32.const 16))
      (call $arguments (i32.const 0))
      (call $lines (i32.const 8))
      (if (call $is (i32.const 0x74)) (then (call $trap)))                   ;; t
      (if (call $is (i32.const 0x66)) (then (return (i32.const 1))))         ;; f
      (if (call $is (i32.const 0x65)) (then (call $exit (i32.const 1))))     ;; e
      (if (call $is (i32.const 0x71)) (then (call $exit (i32.const 0))))     ;; q
      (if (call $is (i32.const 0x68)) (then                                  ;; h
        (loop $on
          (drop (call $tensor (i32.const 0) (i32.const 0) (i32.const 4) (i32.const 0) (i32.const 16)))
          (br $on))))
      (i32.const 0)))
  (core instance $main (instantiate $Main
    (with "memory" (instance $memory))
    (with "host" (instance
      (export "get-stdout" (func $get-stdout))
      (export "write" (func $write))
      (export "arguments" (func $arguments))
      (export "environment" (func $environment))
      (export "exit" (func $exit))
      (export "tensor" (func $tensor))))))
  (alias core export $main "run" (core func $main-run))
  (func $run (result (result)) (canon lift (core func $main-run)))
  (instance $cli-run (export "run" (func $run)))
  (export "wasi:cli/run@@OUT@" (instance $cli-run)))
