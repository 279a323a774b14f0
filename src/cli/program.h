// The wasinn command, except for its end: reads the arguments and runs their subcommand. Returns the exit code.
#pragma once

namespace wasinn::cli {

int Program(int argc, char** argv);

}  // namespace wasinn::cli
