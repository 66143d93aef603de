/* How often a visit costs as much as a miss and is none, as far as the survey's rings say. */
#include "tlb.h"
#include <math.h>

/* What makes a line slow for other reasons comes upon openers and followers alike, and makes costs too low as well. */
static double noise_of(const struct tlb_view *w, unsigned rings, double rise)
{
	double low = 0, of = 0;

	for (unsigned k = 0; k < rings; k++)
		for (uint32_t i = 0; i < w[k].visits; i++) {
			of += !isnan(w[k].cost[i]);
			low += w[k].cost[i] <= -(float)rise;
		}
	return (low + 1) / (of + 1);
}

/* The same of rings whose pages cost one and the same, centre, as those do that all miss: what makes a line slow makes that cost less than
 * it is, too, if not less than nothing. Pages of another cost are on one side only. NAN: pages of the ring differ. */
static double noise_around(const struct tlb_view *w, unsigned rings, const double *centre, double rise)
{
	double both = 0, of = 0;

	for (unsigned k = 0; k < rings; k++) {
		double low = 0, high = 0;
		for (uint32_t i = 0; i < w[k].visits && !isnan(centre[k]); i++) {
			of += !isnan(w[k].cost[i]);
			low += w[k].cost[i] <= (float)(centre[k] - rise);
			high += w[k].cost[i] >= (float)(centre[k] + rise);
		}
		both += fmin(low, high);
	}
	return both / (of + 1);
}

double tlb_noise(const struct tlb_view *w, unsigned rings, const double *centre, double rise)
{
	return fmax(noise_of(w, rings, rise), noise_around(w, rings, centre, rise));
}
