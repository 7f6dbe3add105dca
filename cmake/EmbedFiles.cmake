# cmake -DSYMBOL=NAME -DFILES=a|b -DOUTPUT=FILE.c -P: the bytes of the files as an array that ends in a NUL.
string(REPLACE "|" ";" FILES "${FILES}")
set(bytes "")
foreach(file ${FILES})
  file(READ ${file} hex HEX)
  string(APPEND bytes "${hex}")
endforeach()
string(REGEX REPLACE "([0-9a-f][0-9a-f])" "'\\\\x\\1'," bytes "${bytes}")
file(WRITE ${OUTPUT} "extern const char ${SYMBOL}[];\nconst char ${SYMBOL}[] = {${bytes}0};\n")
