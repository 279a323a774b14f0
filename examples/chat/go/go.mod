module chat

go 1.24
