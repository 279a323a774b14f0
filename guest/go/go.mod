module wasinn

go 1.24
