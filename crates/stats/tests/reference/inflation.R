# Generates inflation.tsv: variance inflation of the mean by autocorrelation, from initseq in the mcmc package.
#
#     Rscript -e 'install.packages("mcmc")' && Rscript inflation.R >inflation.tsv
library(mcmc)
set.seed(20261121)
cat("# inflation, values; R", as.character(getRversion()), "mcmc", as.character(packageVersion("mcmc")), "\n")
for (case in 1:30) {
  n <- sample(20:120, 1)
  x <- round(10 + as.numeric(arima.sim(list(ar = sample(c(0.01, 0.3, 0.6, 0.8), 1)), n)), 3)
  found <- initseq(x)
  cat(formatC(found$var.dec / found$gamma0, digits = 15, format = "g"),
      paste(x, collapse = " "), sep = "\t")
  cat("\n")
}
