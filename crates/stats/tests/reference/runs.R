# Generates runs.tsv: how far two runs may differ, from moving ranges and R's quantiles. The mean and covariances of the
# moving ranges are integrated numerically.
#
#     Rscript runs.R >runs.tsv
set.seed(20261121)
cat("# confidence, values in order of time, relative distance; R", as.character(getRversion()), "\n")
show <- function(x) paste(sprintf("%.15g", x), collapse = " ")
whole <- function(f) integrate(f, -12, 12, rel.tol = 1e-11, abs.tol = 0)$value
# Mean distance of a standard normal value from x. Neighbouring ranges share one value.
distance <- function(x) x * (2 * pnorm(x) - 1) + 2 * dnorm(x)
d2 <- whole(function(x) distance(x) * dnorm(x))
variance <- 2 - d2^2
covariance <- whole(function(x) distance(x)^2 * dnorm(x)) - d2^2
for (case in 1:40) {
  n <- sample(4:11, 1)
  confidence <- sample(c(0.9, 0.95, 0.99), 1)
  x <- round(10 * exp(rnorm(n, 0, sample(c(0.003, 0.03), 1))), 6)
  ranges <- abs(diff(log(x)))
  largest <- which.max(ranges)
  # Leave out a large, lasting change of level.
  if (largest >= 3 && n - largest >= 3 && ranges[largest] > 8 * mean(ranges[-largest])) ranges <- ranges[-largest]
  n <- length(ranges) + 1
  freedom <- 2 * ((n - 1) * d2)^2 / (4 * ((n - 1) * variance + 2 * (n - 2) * covariance))
  reach <- qt(0.5 + confidence / 2, freedom) * mean(ranges) / d2 * sqrt(2)
  cat(confidence, show(x), show(exp(reach) - 1), sep = "\t")
  cat("\n")
}
