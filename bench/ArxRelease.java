// Makes a release with ARX: its best full-domain transformation, then local recoding. Compiled and run by `incrowd-bench auto
// --arx PATH`, where PATH is ARX's jar or a directory of its classes.
//
//   TABLE.csv HIERARCHIES PREFIX QUASI,QUASI K OUT.csv [l-diversity|t-closeness COLUMN NUMBER]
//
// Prints the seconds of anonymizing alone, without starting Java and reading.

import java.io.File;
import java.nio.charset.StandardCharsets;
import org.deidentifier.arx.ARXAnonymizer;
import org.deidentifier.arx.ARXConfiguration;
import org.deidentifier.arx.ARXResult;
import org.deidentifier.arx.AttributeType;
import org.deidentifier.arx.Data;
import org.deidentifier.arx.DataHandle;
import org.deidentifier.arx.criteria.DistinctLDiversity;
import org.deidentifier.arx.criteria.EqualDistanceTCloseness;
import org.deidentifier.arx.criteria.KAnonymity;
import org.deidentifier.arx.io.CSVHierarchyInput;
import org.deidentifier.arx.metric.Metric;

public class ArxRelease {
    public static void main(String[] args) throws Exception {
        Data table = Data.create(args[0], StandardCharsets.UTF_8, ',');
        DataHandle read = table.getHandle();
        for (int i = 0; i < read.getNumColumns(); i++) {
            table.getDefinition().setAttributeType(read.getAttributeName(i), AttributeType.IDENTIFYING_ATTRIBUTE);
        }
        for (String column : args[3].split(",")) {
            File file = new File(args[1], args[2] + "_hierarchy_" + column + ".csv");
            String[][] levels = new CSVHierarchyInput(file, StandardCharsets.UTF_8, ';').getHierarchy();
            table.getDefinition().setAttributeType(column, AttributeType.Hierarchy.create(levels));
        }
        ARXConfiguration wanted = ARXConfiguration.create();
        wanted.addPrivacyModel(new KAnonymity(Integer.parseInt(args[4])));
        if (args.length > 6) {
            table.getDefinition().setAttributeType(args[7], AttributeType.SENSITIVE_ATTRIBUTE);
            if (args[6].equals("l-diversity")) {
                wanted.addPrivacyModel(new DistinctLDiversity(args[7], Integer.parseInt(args[8])));
            } else {
                wanted.addPrivacyModel(new EqualDistanceTCloseness(args[7], Double.parseDouble(args[8])));
            }
        }
        // Local recoding needs records that the transformation leaves out, and generalizes them further.
        wanted.setSuppressionLimit(1d);
        wanted.setQualityModel(Metric.createLossMetric(0d));
        long began = System.nanoTime();
        ARXResult result = new ARXAnonymizer().anonymize(table, wanted);
        DataHandle release = result.getOutput();
        if (result.isOptimizable(release)) {
            result.optimizeIterativeFast(release, 0.01d);
        }
        double seconds = (System.nanoTime() - began) / 1e9;
        release.save(args[5], ',');
        System.out.println(seconds);
    }
}
