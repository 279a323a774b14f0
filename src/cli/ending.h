// How the programs that are made of this folder end alike.
#pragma once

#include <string>

namespace wasinn::cli {

// Says what is wrong with the arguments, and where help is: `program` --help. Returns kUsage.
int UsageError(const std::string& program, const std::string& message);

// What main() returns: what `run` does, once all that was printed is written. An exception that nobody caught would end a program with the
// code of a guest's trap; it is a failure. A process that was started to compile does that in place of `run`.
int RunToItsEnd(int (*run)(int argc, char** argv), int argc, char** argv);

// Ends this OS process with a code, once all that was printed is written, and leaves the rest to the system: a framework takes milliseconds
// to end by itself, as long as many a guest runs. Returns the code where a sanitizer looks for what is not freed.
int EndAtOnce(int code);

}  // namespace wasinn::cli
