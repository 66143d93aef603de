/* Streams and events. All work is done when it is asked for, so that nothing is ever waited for; events hold the simulated time. */
#include "exec/driver.h"
#include <string.h>

EXEC_API CUresult cuStreamCreate(CUstream *s, unsigned flags)
{
	EXEC_ENTER();
	CUstream made = mem_zero(1, sizeof *made);
	if (!made)
		return exec_leave(EXEC_OUT_OF_MEMORY);
	made->device = exec_here;
	made->flags = flags;
	made->next = exec_process.streams;
	exec_process.streams = made;
	*s = made;
	return exec_leave(EXEC_OK);
}

EXEC_API CUresult cuStreamCreateWithPriority(CUstream *s, unsigned flags, int priority)
{
	(void)priority;
	return cuStreamCreate(s, flags);
}

EXEC_API CUresult cuStreamDestroy_v2(CUstream s)
{
	if ((uintptr_t)s <= 2) /* the streams that every context has */
		return EXEC_INVALID_HANDLE;
	EXEC_ENTER();
	for (struct CUstream_st **p = &exec_process.streams; *p; p = &(*p)->next)
		if (*p == s) {
			*p = s->next;
			mem_free(s);
			return exec_leave(EXEC_OK);
		}
	return exec_leave(EXEC_INVALID_HANDLE);
}

EXEC_API CUresult cuStreamSynchronize(CUstream s)
{
	(void)s;
	EXEC_ENTER();
	return exec_leave(EXEC_OK);
}

EXEC_API CUresult cuStreamQuery(CUstream s)
{
	return cuStreamSynchronize(s);
}

EXEC_API CUresult cuStreamGetFlags(CUstream s, unsigned *flags)
{
	*flags = (uintptr_t)s <= 2 ? 0 : s->flags;
	return EXEC_OK;
}

EXEC_API CUresult cuStreamGetPriority(CUstream s, int *priority)
{
	(void)s;
	*priority = 0;
	return EXEC_OK;
}

EXEC_API CUresult cuStreamGetCtx(CUstream s, CUcontext *c)
{
	EXEC_ENTER();
	exec_on((uintptr_t)s > 2 ? s->device : NULL);
	*c = &exec_here->primary;
	return exec_leave(EXEC_OK);
}

/* What waits for an event of a capture takes part in it. */
EXEC_API CUresult cuStreamWaitEvent(CUstream s, CUevent e, unsigned flags)
{
	(void)flags;
	if (!e)
		return EXEC_INVALID_HANDLE;
	if (e->graph && (uintptr_t)s > 2 && !s->graph)
		s->graph = e->graph;
	return cuStreamSynchronize(s);
}

EXEC_API CUresult cuStreamAddCallback(CUstream s, void (*call)(CUstream, CUresult, void *), void *data, unsigned flags)
{
	(void)flags;
	call(s, EXEC_OK, data);
	return EXEC_OK;
}

EXEC_API CUresult cuLaunchHostFunc(CUstream s, void (*call)(void *), void *data)
{
	const struct exec_work w = {.kind = EXEC_WORK_HOST, .of.host = {call, data}};
	return exec_submit(s, &w);
}

EXEC_API CUresult cuEventCreate(CUevent *e, unsigned flags)
{
	enum { DISABLE_TIMING = 2 };
	EXEC_ENTER();
	*e = mem_zero(1, sizeof **e);
	if (*e)
		(*e)->timeless = flags & DISABLE_TIMING;
	return exec_leave(*e ? EXEC_OK : EXEC_OUT_OF_MEMORY);
}

EXEC_API CUresult cuEventDestroy_v2(CUevent e)
{
	mem_free(e);
	return e ? EXEC_OK : EXEC_INVALID_HANDLE;
}

/* Within a capture an event only says what comes before what. */
EXEC_API CUresult cuEventRecord(CUevent e, CUstream s)
{
	const struct exec_work w = {.kind = EXEC_WORK_RECORD, .of.event = e};
	if (!e)
		return EXEC_INVALID_HANDLE;
	e->graph = exec_capturing(s);
	return e->graph ? EXEC_OK : exec_submit(s, &w);
}

EXEC_API CUresult cuEventRecordWithFlags(CUevent e, CUstream s, unsigned flags)
{
	(void)flags;
	return cuEventRecord(e, s);
}

EXEC_API CUresult cuEventSynchronize(CUevent e)
{
	if (!e)
		return EXEC_INVALID_HANDLE;
	EXEC_ENTER();
	return exec_leave(EXEC_OK);
}

EXEC_API CUresult cuEventQuery(CUevent e)
{
	return cuEventSynchronize(e);
}

EXEC_API CUresult cuEventElapsedTime(float *ms, CUevent from, CUevent to)
{
	if (!from || !to)
		return EXEC_INVALID_HANDLE;
	EXEC_ENTER();
	if (exec_process.untimed && !exec_process.events_told) {
		exec_process.events_told = true;
		exec_say("the program reads the time between events: --untimed kernels take as long as empty ones");
	}
	*ms = (float)((to->ns - from->ns) * 1e-6);
	const bool timed = !from->timeless && !to->timeless;
	return exec_leave(timed && from->recorded && to->recorded ? EXEC_OK : EXEC_INVALID_HANDLE);
}

EXEC_API CUresult cuEventElapsedTime_v2(float *ms, CUevent from, CUevent to)
{
	return cuEventElapsedTime(ms, from, to);
}
