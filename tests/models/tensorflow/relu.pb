
<
xPlaceholder*
dtype0*
shape:àà

yRelux*
T0"ª