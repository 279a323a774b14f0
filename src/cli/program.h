// The wasinn command, but for its end: reads the arguments and runs the subcommand that they name. Returns the exit code.
#pragma once

namespace wasinn::cli {

int Program(int argc, char** argv);

}  // namespace wasinn::cli
