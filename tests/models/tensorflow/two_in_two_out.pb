
2
bPlaceholder*
dtype0*
shape
:
2
aPlaceholder*
dtype0*
shape
:

sumAddV2ab*
T0
 

differenceSubab*
T0"ª