// An unsigned number of BYTES bytes; of 16, two of 8.
#if BYTES == 1
typedef uchar number;
#end
#if BYTES == 2
typedef ushort number;
#end
#if BYTES == 4
typedef uint number;
#end
#if BYTES == 8
typedef ulong number;
#end
#if BYTES == 16
typedef ulong2 number;
#end
