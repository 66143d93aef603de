// As idle.ptx.
__kernel void idle(void)
{
}
