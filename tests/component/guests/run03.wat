;; A program of WASI 0.3 that prints its arguments, a line each, and then does what the first letter of its first argument says.
;; Most of it no program should do.
;;
;; The tests set the version of the export, @OUT@.
(component
  (import "wasi:cli/environment@0.3.0" (instance $environment
    (export "get-arguments" (func (result (list string))))))
  (import "wasi:cli/exit@0.3.0" (instance $exit (export "exit" (func (param "status" (result))))))
  (import "wasi:cli/stdin@0.3.0" (instance $stdin
    (type $cases (enum "io" "illegal-byte-sequence" "pipe"))
    (export "error-code" (type $code (eq $cases)))
    (export "read-via-stream" (func (result (tuple (stream u8) (future (result (error $code)))))))))
  (import "wasi:cli/stdout@0.3.0" (instance $stdout
    (type $cases (enum "io" "illegal-byte-sequence" "pipe"))
    (export "error-code" (type $code (eq $cases)))
    (export "write-via-stream" (func (param "data" (stream u8)) (result (future (result (error $code))))))))
  (import "wasi:clocks/monotonic-clock@0.3.0" (instance $clock
    (export "wait-for" (func async (param "how-long" u64)))))
  (import "wasi:nn/tensor@0.2.0-rc-2024-10-28" (instance $nn
    (export "tensor" (type $tensor (sub resource)))
    (type $cases (enum "FP16" "FP32" "FP64" "BF16" "U8" "I32" "I64"))
    (export "tensor-type" (type $tensor-type (eq $cases)))
    (export "[constructor]tensor" (func (param "dimensions" (list u32)) (param "ty" $tensor-type)
                                        (param "data" (list u8)) (result (own $tensor))))))

  ;; Its function waits for an hour, and holds no stack meanwhile.
  (component $Sleeper
    (import "wait-for" (func $wit-wait-for async (param "how-long" u64)))
    (core func $wait-for (canon lower (func $wit-wait-for) async))
    (core func $set-new (canon waitable-set.new))
    (core func $join (canon waitable.join))
    (core func $task-return (canon task.return))
    (core module $Main
      (import "host" "wait-for" (func $wait-for (param i64) (result i32)))
      (import "host" "set-new" (func $set-new (result i32)))
      (import "host" "join" (func $join (param i32 i32)))
      (import "host" "task-return" (func $task-return))
      (func (export "sleep") (result i32)
        (local $set i32)
        (local.set $set (call $set-new))
        (call $join (i32.shr_u (call $wait-for (i64.const 3600000000000)) (i32.const 4)) (local.get $set))
        (i32.or (i32.const 2) (i32.shl (local.get $set) (i32.const 4))))
      (func (export "awake") (param i32 i32 i32) (result i32)
        (call $task-return)
        (i32.const 0)))
    (core instance $main (instantiate $Main (with "host" (instance
      (export "wait-for" (func $wait-for))
      (export "set-new" (func $set-new))
      (export "join" (func $join))
      (export "task-return" (func $task-return))))))
    (alias core export $main "sleep" (core func $sleep))
    (alias core export $main "awake" (core func $awake))
    (func (export "sleep") async (canon lift (core func $sleep) async (callback (core func $awake)))))

  (component $Program
    (import "arguments" (func $wit-arguments (result (list string))))
    (import "exit" (func $wit-exit (param "status" (result))))
    (type $cases (enum "io" "illegal-byte-sequence" "pipe"))
    (import "error-code" (type $code (eq $cases)))
    (import "stdin" (func $wit-stdin (result (tuple (stream u8) (future (result (error $code)))))))
    (import "stdout" (func $wit-stdout (param "data" (stream u8)) (result (future (result (error $code))))))
    (import "wait-for" (func $wit-wait-for async (param "how-long" u64)))
    (import "sleep" (func $wit-sleep async))
    (import "tensor" (type $tensor (sub resource)))
    (type $types (enum "FP16" "FP32" "FP64" "BF16" "U8" "I32" "I64"))
    (import "tensor-type" (type $tensor-type (eq $types)))
    (import "new-tensor" (func $wit-tensor (param "dimensions" (list u32)) (param "ty" $tensor-type)
                                           (param "data" (list u8)) (result (own $tensor))))

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

    (type $stream (stream u8))
    (type $written (future (result (error $code))))
    (type $number (future u32))
    (core func $arguments (canon lower (func $wit-arguments) (memory $bytes) (realloc $realloc)))
    (core func $exit (canon lower (func $wit-exit)))
    (core func $stdin (canon lower (func $wit-stdin) (memory $bytes)))
    (core func $stdout (canon lower (func $wit-stdout)))
    (core func $tensor (canon lower (func $wit-tensor) (memory $bytes)))
    (core func $wait-for (canon lower (func $wit-wait-for) async))
    (core func $sleep (canon lower (func $wit-sleep) async))
    (core func $stream-new (canon stream.new $stream))
    (core func $stream-read (canon stream.read $stream async (memory $bytes)))
    (core func $stream-write (canon stream.write $stream async (memory $bytes)))
    (core func $drop-readable (canon stream.drop-readable $stream))
    (core func $drop-writable (canon stream.drop-writable $stream))
    (core func $written-read (canon future.read $written async (memory $bytes)))
    (core func $future-new (canon future.new $number))
    (core func $future-read (canon future.read $number async (memory $bytes)))
    (core func $set-new (canon waitable-set.new))
    (core func $set-wait (canon waitable-set.wait (memory $bytes)))
    (core func $join (canon waitable.join))
    (core func $task-return (canon task.return (result (result))))

    (core module $Main
      (import "memory" "memory" (memory 1))
      (import "host" "arguments" (func $arguments (param i32)))
      (import "host" "exit" (func $exit (param i32)))
      (import "host" "stdin" (func $stdin (param i32)))
      (import "host" "stdout" (func $stdout (param i32) (result i32)))
      (import "host" "tensor" (func $tensor (param i32 i32 i32 i32 i32) (result i32)))
      (import "host" "wait-for" (func $wait-for (param i64) (result i32)))
      (import "host" "sleep" (func $sleep (result i32)))
      (import "host" "stream-new" (func $stream-new (result i64)))
      (import "host" "stream-read" (func $stream-read (param i32 i32 i32) (result i32)))
      (import "host" "stream-write" (func $stream-write (param i32 i32 i32) (result i32)))
      (import "host" "drop-readable" (func $drop-readable (param i32)))
      (import "host" "drop-writable" (func $drop-writable (param i32)))
      (import "host" "written-read" (func $written-read (param i32 i32) (result i32)))
      (import "host" "future-new" (func $future-new (result i64)))
      (import "host" "future-read" (func $future-read (param i32 i32) (result i32)))
      (import "host" "set-new" (func $set-new (result i32)))
      (import "host" "set-wait" (func $set-wait (param i32 i32) (result i32)))
      (import "host" "join" (func $join (param i32 i32)))
      (import "host" "task-return" (func $task-return (param i32)))
      (data (i32.const 16) "\nhalf")
      (global $out (mut i32) (i32.const 0))      ;; what stdout reads from
      (global $written (mut i32) (i32.const 0))  ;; whether it has written all
      (global $then (mut i32) (i32.const 0))     ;; what the task does when it is awake
      (global $set (mut i32) (i32.const 0))      ;; of the one end of a stream or future that is waited for
      ;; The result of reading or writing there, which may have to be waited for.
      (func $await (param $end i32) (param $result i32) (result i32)
        (if (i32.ne (local.get $result) (i32.const -1)) (then (return (local.get $result))))
        (call $join (local.get $end) (global.get $set))
        (drop (call $set-wait (global.get $set) (i32.const 48)))
        (call $join (local.get $end) (i32.const 0))
        (i32.load (i32.const 52)))
      (func $read (param $end i32) (param $at i32) (param $size i32) (result i32)
        (call $await (local.get $end) (call $stream-read (local.get $end) (local.get $at) (local.get $size))))
      (func $write (param $end i32) (param $at i32) (param $size i32) (result i32)
        (call $await (local.get $end) (call $stream-write (local.get $end) (local.get $at) (local.get $size))))
      (func $readable (param $ends i64) (result i32) (i32.wrap_i64 (local.get $ends)))
      (func $writable (param $ends i64) (result i32) (i32.wrap_i64 (i64.shr_u (local.get $ends) (i64.const 32))))
      (func $open
        (local $ends i64)
        (local.set $ends (call $stream-new))
        (global.set $set (call $set-new))
        (global.set $out (call $writable (local.get $ends)))
        (global.set $written (call $stdout (call $readable (local.get $ends)))))
      (func $close
        (call $drop-writable (global.get $out))
        (drop (call $await (global.get $written) (call $written-read (global.get $written) (i32.const 32)))))
      (func $print (param $at i32) (param $size i32)
        (local $n i32)
        (loop $next
          (if (i32.eqz (local.get $size)) (then (return)))
          (local.set $n (i32.shr_u (call $write (global.get $out) (local.get $at) (local.get $size)) (i32.const 4)))
          (local.set $at (i32.add (local.get $at) (local.get $n)))
          (local.set $size (i32.sub (local.get $size) (local.get $n)))
          (br $next)))
      ;; The list at 0 and 4.
      (func $lines
        (local $at i32) (local $left i32)
        (local.set $at (i32.load (i32.const 0)))
        (local.set $left (i32.load (i32.const 4)))
        (block $done
          (loop $next
            (br_if $done (i32.eqz (local.get $left)))
            (call $print (i32.load (local.get $at)) (i32.load offset=4 (local.get $at)))
            (call $print (i32.const 16) (i32.const 1))
            (local.set $at (i32.add (local.get $at) (i32.const 8)))
            (local.set $left (i32.sub (local.get $left) (i32.const 1)))
            (br $next))))
      (func $is (param $letter i32) (result i32)
        (if (i32.lt_u (i32.load (i32.const 4)) (i32.const 2)) (then (return (i32.const 0))))
        (if (i32.eqz (i32.load offset=12 (i32.load (i32.const 0)))) (then (return (i32.const 0))))
        (i32.eq (i32.load8_u (i32.load offset=8 (i32.load (i32.const 0)))) (local.get $letter)))
      ;; All of stdin, or its first byte and then no more.
      (func $copy (param $all i32)
        (local $in i32) (local $n i32)
        (call $stdin (i32.const 40))
        (local.set $in (i32.load (i32.const 40)))
        (loop $next
          (local.set $n (call $read (local.get $in) (i32.const 32768)
                                    (select (i32.const 32768) (i32.const 1) (local.get $all))))
          (call $print (i32.const 32768) (i32.shr_u (local.get $n) (i32.const 4)))
          (br_if $next (i32.and (local.get $all) (i32.eqz (i32.and (local.get $n) (i32.const 15))))))
        (call $drop-readable (local.get $in)))
      (func $trap unreachable)
      ;; Ends the task, or lets it wait for the subtask.
      (func $wait (param $subtask i32) (result i32)
        (local $set i32)
        (local.set $set (call $set-new))
        (call $join (i32.shr_u (local.get $subtask) (i32.const 4)) (local.get $set))
        (i32.or (i32.const 2) (i32.shl (local.get $set) (i32.const 4))))
      (func (export "awake") (param i32 i32 i32) (result i32)
        (global.get $then))
      (func (export "run") (result i32)
        (local $i i32)
        (call $arguments (i32.const 0))
        (call $open)
        (call $lines)
        (if (call $is (i32.const 0x63)) (then (call $copy (i32.const 1))))     ;; c: copies stdin
        (if (call $is (i32.const 0x62)) (then (call $copy (i32.const 0))))     ;; b: drops stdin after a byte
        (if (call $is (i32.const 0x6f)) (then                                  ;; o: drops a stream of stdout half-way
          (call $print (i32.const 17) (i32.const 4))
          (call $drop-writable (global.get $out))
          (call $task-return (i32.const 0))
          (return (i32.const 0))))
        (call $close)
        (if (call $is (i32.const 0x74)) (then (call $trap)))                   ;; t
        (if (call $is (i32.const 0x65)) (then (call $exit (i32.const 1))))     ;; e
        (if (call $is (i32.const 0x71)) (then (call $exit (i32.const 0))))     ;; q
        (if (call $is (i32.const 0x68)) (then                                  ;; h: hoards tensors
          (loop $on
            (drop (call $tensor (i32.const 0) (i32.const 0) (i32.const 4) (i32.const 0) (i32.const 16)))
            (br $on))))
        (if (call $is (i32.const 0x75)) (then                                  ;; u: writes what nobody reads
          (drop (call $write (call $writable (call $stream-new)) (i32.const 16) (i32.const 1)))))
        (if (call $is (i32.const 0x61)) (then                                  ;; a: awaits what nobody writes
          (local.set $i (call $readable (call $future-new)))
          (drop (call $await (local.get $i) (call $future-read (local.get $i) (i32.const 40))))))
        (if (call $is (i32.const 0x73)) (then                                  ;; s: streams, and no end of them
          (loop $on (drop (call $stream-new)) (br $on))))
        (if (call $is (i32.const 0x6e)) (then                                  ;; n: futures that nobody awaits
          (loop $on (drop (call $future-new)) (br $on))))
        (if (call $is (i32.const 0x6d)) (then                                  ;; m: calls of the host, and no end of them
          (loop $on (drop (call $wait-for (i64.const 3600000000000))) (br $on))))
        (if (call $is (i32.const 0x67)) (then                                  ;; g: tasks, and no end of them
          (loop $on (drop (call $sleep)) (br $on))))
        (if (call $is (i32.const 0x6b)) (then                                  ;; k: 6,000 tasks
          (loop $on
            (drop (call $sleep))
            (local.set $i (i32.add (local.get $i) (i32.const 1)))
            (br_if $on (i32.lt_u (local.get $i) (i32.const 6000))))))
        (if (call $is (i32.const 0x79)) (then                                  ;; y: yields for ever
          (global.set $then (i32.const 1))
          (return (i32.const 1))))
        (if (call $is (i32.const 0x77)) (then                                  ;; w: waits for an hour
          (return (call $wait (call $sleep)))))
        (call $task-return (call $is (i32.const 0x66)))                        ;; f: fails
        (if (call $is (i32.const 0x6c)) (then                                  ;; l: its task goes on after its result
          (return (call $wait (call $sleep)))))
        (i32.const 0)))
    (core instance $main (instantiate $Main
      (with "memory" (instance $memory))
      (with "host" (instance
        (export "arguments" (func $arguments))
        (export "exit" (func $exit))
        (export "stdin" (func $stdin))
        (export "stdout" (func $stdout))
        (export "tensor" (func $tensor))
        (export "wait-for" (func $wait-for))
        (export "sleep" (func $sleep))
        (export "stream-new" (func $stream-new))
        (export "stream-read" (func $stream-read))
        (export "stream-write" (func $stream-write))
        (export "drop-readable" (func $drop-readable))
        (export "drop-writable" (func $drop-writable))
        (export "written-read" (func $written-read))
        (export "future-new" (func $future-new))
        (export "future-read" (func $future-read))
        (export "set-new" (func $set-new))
        (export "set-wait" (func $set-wait))
        (export "join" (func $join))
        (export "task-return" (func $task-return))))))
    (alias core export $main "run" (core func $main-run))
    (alias core export $main "awake" (core func $main-awake))
    (func (export "run") async (result (result))
      (canon lift (core func $main-run) async (memory $bytes) (callback (core func $main-awake)))))

  (alias export $environment "get-arguments" (func $arguments))
  (alias export $exit "exit" (func $exit))
  (alias export $stdin "read-via-stream" (func $stdin))
  (alias export $stdout "error-code" (type $code))
  (alias export $stdout "write-via-stream" (func $stdout))
  (alias export $clock "wait-for" (func $wait-for))
  (alias export $nn "tensor" (type $tensor))
  (alias export $nn "tensor-type" (type $tensor-type))
  (alias export $nn "[constructor]tensor" (func $new-tensor))
  (instance $sleeper (instantiate $Sleeper (with "wait-for" (func $wait-for))))
  (alias export $sleeper "sleep" (func $sleep))
  (instance $program (instantiate $Program
    (with "arguments" (func $arguments))
    (with "exit" (func $exit))
    (with "error-code" (type $code))
    (with "stdin" (func $stdin))
    (with "stdout" (func $stdout))
    (with "wait-for" (func $wait-for))
    (with "sleep" (func $sleep))
    (with "tensor" (type $tensor))
    (with "tensor-type" (type $tensor-type))
    (with "new-tensor" (func $new-tensor))))
  (alias export $program "run" (func $run))
  (instance $cli-run (export "run" (func $run)))
  (export "wasi:cli/run@@OUT@" (instance $cli-run)))
