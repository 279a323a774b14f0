
2
xPlaceholder*
dtype0*
shape
:

indicesWherex*
T0"ª