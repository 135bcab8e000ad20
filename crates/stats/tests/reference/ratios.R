# Generates ratios.tsv: R's exact intervals of a ratio from Wilcoxon's distributions, on logarithms.
#
#     Rscript ratios.R >ratios.tsv
set.seed(20261121)
cat("# kind, confidence, a, b, estimate, low, high of b/a; R", as.character(getRversion()), "\n")
show <- function(x) paste(sprintf("%.15g", x), collapse = " ")
for (case in 1:40) {
  # Discard draws for rows that were removed from the table, so that the other rows do not change.
  n <- sample(4:20, 1)
  m <- sample(4:20, 1)
  confidence <- sample(c(0.8, 0.9, 0.95), 1)
  rnorm(n + m)
  n <- sample(6:20, 1)
  a <- round(10 * exp(rnorm(n, 0, 0.1)), 4)
  b <- round(8 * exp(rnorm(n, 0, 0.1)), 4)
  found <- wilcox.test(log(b), log(a), paired = TRUE, conf.int = TRUE, conf.level = confidence, exact = TRUE)
  cat("paired", confidence, show(a), show(b), show(exp(found$estimate)), show(exp(found$conf.int[1])),
      show(exp(found$conf.int[2])), sep = "\t")
  cat("\n")
}
