
.
xPlaceholder*
dtype0*
shape:
+
uniqueUniquex*
T0*
out_idx0"ª