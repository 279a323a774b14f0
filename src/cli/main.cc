// The wasinn command: all of its code is in a library, which is compiled as one file.
#include "cli/ending.h"
#include "cli/program.h"

int main(int argc, char** argv) { return wasinn::cli::RunToItsEnd(wasinn::cli::Program, argc, argv); }
