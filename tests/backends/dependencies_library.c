/* A library that says where the dynamic linker is to look. */
#define EXPORT __attribute__((visibility("default")))
#ifdef NEEDS_ANOTHER
int DependenciesNeeded(void);
EXPORT int DependenciesMain(void);
int DependenciesMain(void) { return DependenciesNeeded(); }
#else
EXPORT int DependenciesNeeded(void);
int DependenciesNeeded(void) { return 1; }
#endif
