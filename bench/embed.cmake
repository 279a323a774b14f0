# cmake -DFILE=… -DNAME=… -DOUTPUT=… -P embed.cmake: the bytes of a file as an array and its size in a C++ file.
file(READ ${FILE} bytes HEX)
string(REGEX REPLACE "(..)" "0x\\1," bytes "${bytes}")
string(REGEX REPLACE "(................................................................................)" "\\1\n" bytes "${bytes}")
file(WRITE ${OUTPUT} "extern const unsigned char ${NAME}[];\nextern const unsigned long ${NAME}_size;\n"
                     "const unsigned char ${NAME}[] = {\n${bytes}0};\n"
                     "const unsigned long ${NAME}_size = sizeof ${NAME} - 1;\n")
