// How the programs that are made of this folder end alike.
#pragma once

#include <string>

namespace wasinn::cli {

// Says what is wrong with the arguments, and where help is: `program` --help. Returns kUsage.
int UsageError(const std::string& program, const std::string& message);

// What main() returns: what `run` does, once all that was printed is written. An exception that nobody caught would end a program with the
// code of a guest's trap; it is a failure.
int RunToItsEnd(int (*run)(int argc, char** argv), int argc, char** argv);

}  // namespace wasinn::cli
