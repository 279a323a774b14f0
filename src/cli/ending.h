// The common end of the programs that use this folder.
#pragma once

#include <string>

namespace wasinn::cli {

// Reports an error in the arguments, and names `program` --help. Returns kUsage.
int UsageError(const std::string& program, const std::string& message);

// The return value of main(): that of `run`, after all output is written. An uncaught exception would end a program
// with the code of a guest's trap; here it is a failure. A process that was started to compile does that instead.
int RunToItsEnd(int (*run)(int argc, char** argv), int argc, char** argv);

// Ends this OS process with a code, after everything printed is written, and leaves the rest to the system: a framework
// takes milliseconds to end by itself, as long as many a guest runs. Returns the code if a sanitizer looks for leaks.
int EndAtOnce(int code);

}  // namespace wasinn::cli
