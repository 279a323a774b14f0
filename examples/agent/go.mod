module agent

go 1.24

require wasinn v0.0.0

replace wasinn => ../../guest/go
